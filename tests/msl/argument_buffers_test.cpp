// Structs whose members are resources: pointers, textures, samplers, arrays of them, structs of them.
#include "compile_source.hpp"

namespace metalloid {
namespace {

TEST(ArgumentBuffers, HoldPointersAndValuesWithTheirIds) {
  const Function f = function_of(R"(
    struct Arguments {
      device float* out [[id(3)]];
      const device int* in [[id(1)]];
      constant float4* table [[id(0)]];
      float scale [[id(7)]];
      uint2 size;
    };
    kernel void f(device Arguments& a [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      a.out[i] = a.in[i] * a.scale + a.table[0].x + a.size.y;
    })");
  const Parameter& parameter = f.parameters.at(0);
  EXPECT_EQ(parameter.kind, ParameterKind::buffer);
  EXPECT_EQ(parameter.index, 2u);
  const auto& members = parameter.type.members;
  ASSERT_EQ(members.size(), 5u);
  const uint32_t ids[] = {3, 1, 0, 7, 8};
  const uint64_t offsets[] = {0, 8, 16, 24, 32};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(members[i].argument_index, ids[i]) << members[i].name;
    EXPECT_EQ(members[i].offset, offsets[i]) << members[i].name;
  }
  EXPECT_EQ(members[0].type.data_type, DataType::pointer);
  EXPECT_EQ(members[0].type.access, Access::read_write);
  EXPECT_EQ(members[0].type.element.at(0).data_type, DataType::float1);
  EXPECT_EQ(members[1].type.access, Access::read);
  EXPECT_EQ(members[2].type.access, Access::read);
  EXPECT_EQ(members[2].type.element.at(0).data_type, DataType::float4);
  EXPECT_EQ(members[3].type.data_type, DataType::float1);
}

TEST(ArgumentBuffers, HoldArraysOfBuffersAndTextures) {
  const Function f = function_of(R"(
    struct Arguments {
      device float* list[4] [[id(2)]];
      array<device int*, 3> more;
      array<texture2d<float>, 5> textures [[id(10)]];
      texture3d<half, access::write> volume;
      sampler samplers[2];
      sampler last;
    };
    kernel void f(constant Arguments& a, uint i [[thread_position_in_grid]]) {
      a.list[i][0] = a.more[1][i] + a.textures[i].read(uint2(0)).x;
      a.volume.write(half4(1), uint3(0));
      a.list[0][i] = a.textures[0].sample(a.last, float2(0)).x;
    })");
  const auto& members = f.parameters.at(0).type.members;
  ASSERT_EQ(members.size(), 6u);
  const uint32_t ids[] = {2, 6, 10, 15, 16, 18};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(members[i].argument_index, ids[i]) << members[i].name;
  EXPECT_EQ(members[0].type.data_type, DataType::array);
  EXPECT_EQ(members[0].type.array_length, 4u);
  EXPECT_EQ(members[0].type.element.at(0).data_type, DataType::pointer);
  EXPECT_EQ(members[1].type.array_length, 3u);
  EXPECT_EQ(members[1].type.element.at(0).data_type, DataType::pointer);
  EXPECT_EQ(members[2].type.element.at(0).data_type, DataType::texture);
  EXPECT_EQ(members[3].type.texture_type, TextureType::texture_3d);
  EXPECT_EQ(members[3].type.access, Access::write);
  EXPECT_EQ(members[4].type.element.at(0).data_type, DataType::sampler);
}

TEST(ArgumentBuffers, Nest) {
  const Function f = function_of(R"(
    struct Leaf { device float* data; uint count; };
    struct Branch { Leaf leaves[2]; constant Leaf* elsewhere; };
    struct Root { Branch branch [[id(1)]]; device Branch* next; float after; };
    kernel void f(constant Root& root, device float* out) {
      out[0] = root.branch.leaves[1].data[0] + root.next->elsewhere->data[root.branch.leaves[0].count];
    })");
  const Type& root = f.parameters.at(0).type;
  ASSERT_EQ(root.members.size(), 3u);
  EXPECT_EQ(root.members[0].argument_index, 1u);
  EXPECT_EQ(root.members[1].argument_index, 6u) << "the branch takes 2 * 2 + 1";
  EXPECT_EQ(root.members[2].argument_index, 7u);
  EXPECT_EQ(root.members[1].type.element.at(0).name, "Branch");
  const Type& branch = root.members[0].type;
  EXPECT_EQ(branch.members.at(0).type.size, 32u);
  EXPECT_EQ(branch.members.at(1).type.element.at(0).members.at(0).name, "data");
}

TEST(ArgumentBuffers, MayBeTemplatesAndArraysThemselves) {
  EXPECT_EQ(functions_of(R"(
    template <typename T> struct Tensor { device T* data [[id(0)]]; constant int64_t* strides [[id(1)]]; int rank [[id(2)]]; };
    kernel void f(constant Tensor<float>* tensors [[buffer(0)]], device Tensor<half>& out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      Tensor<float> t = tensors[i];
      device float* p = t.data;
      out.data[i] = half(p[t.strides[t.rank - 1]]);
    })"),
            "f");
}

TEST(ArgumentBuffers, HaveOptionalMembers) {
  EXPECT_EQ(functions_of(R"(
    constant bool has_bias [[function_constant(0)]];
    struct Arguments { device float* out [[id(0)]]; device float* bias [[id(1), function_constant(has_bias)]]; };
    kernel void f(constant Arguments& a) { a.out[0] = has_bias ? a.bias[0] : 0; })"),
            "f");
}

}  // namespace
}  // namespace metalloid
