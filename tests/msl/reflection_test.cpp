// What a compiled library says about its functions.
#include "compile_source.hpp"

namespace metalloid {
namespace {

const StructMember& member(const Type& type, std::string_view name) {
  static const StructMember none;
  for (const StructMember& candidate : type.members)
    if (candidate.name == name) return candidate;
  ADD_FAILURE() << "no member " << name << " in " << type.name;
  return none;
}

std::string indices_of(const Function& function) {
  std::string text;
  for (const Parameter& parameter : function.parameters)
    if (parameter.kind != ParameterKind::grid_value)
      text += (text.empty() ? "" : " ") + parameter.name + ":" + std::to_string(parameter.index);
  return text;
}

TEST(Reflection, GivesIndicesThatAreNotWrittenTheLowestFreeOneOfTheirKind) {
  EXPECT_EQ(indices_of(function_of(R"(
    kernel void f(device float* a, texture2d<float> t, constant int& b [[buffer(0)]], sampler s, device float* c,
                  threadgroup float* g, const device int* d [[buffer(3)]], constant float* e,
                  texture2d<float, access::write> u [[texture(0)]], uint i [[thread_position_in_grid]],
                  threadgroup int* h, device int* k) { })")),
            "a:1 t:1 b:0 s:0 c:2 g:0 d:3 e:4 u:0 h:1 k:5");
}

TEST(Reflection, GivesArraysOfTexturesConsecutiveIndices) {
  const Function f = function_of(R"(
    kernel void f(array<texture2d<float>, 4> a [[texture(1)]], texture2d<float> b, texture2d<float> c,
                  array<texture2d<half, access::read>, 2> d, array<sampler, 3> s, sampler r) { })");
  EXPECT_EQ(indices_of(f), "a:1 b:0 c:5 d:6 s:0 r:3");
  EXPECT_EQ(f.parameters[0].array_length, 4u);
  EXPECT_EQ(f.parameters[0].kind, ParameterKind::texture);
  EXPECT_EQ(f.parameters[4].array_length, 3u);
  EXPECT_EQ(f.parameters[4].kind, ParameterKind::sampler);
}

TEST(Reflection, AcceptsIndicesThatAreConstantExpressions) {
  EXPECT_EQ(indices_of(function_of(R"(
    #define INDEX(n) (n + 1)
    enum Index { output = 2 };
    constexpr constant int weights = 7;
    kernel void f(device float* a [[buffer(INDEX(3))]], device float* b [[buffer(output)]],
                  device float* c [[buffer(weights)]], device float* d [[buffer(sizeof(float4))]]) { })")),
            "a:4 b:2 c:7 d:16");
}

TEST(Reflection, TellsWhatABufferIs) {
  const Function f = function_of(R"(
    struct Params { uint n; float scale; };
    kernel void f(device float4* a, const device half* b, constant Params& c, device Params& d, constant float* e,
                  device atomic_uint* g, device void* h, device const packed_float3* k, constant float (&m)[5]) { })");
  ASSERT_EQ(f.parameters.size(), 9u);
  for (const Parameter& parameter : f.parameters) EXPECT_EQ(parameter.kind, ParameterKind::buffer) << parameter.name;
  const auto& p = f.parameters;
  EXPECT_EQ(p[0].type.data_type, DataType::float4);
  EXPECT_EQ(p[0].access, Access::read_write);
  EXPECT_FALSE(p[0].constant_memory);
  EXPECT_EQ(p[0].type.size, 16u);
  EXPECT_EQ(p[0].type.alignment, 16u);
  EXPECT_EQ(p[1].type.data_type, DataType::half1);
  EXPECT_EQ(p[1].access, Access::read);
  EXPECT_EQ(p[2].type.data_type, DataType::structure);
  EXPECT_EQ(p[2].type.name, "Params");
  EXPECT_EQ(p[2].access, Access::read);
  EXPECT_TRUE(p[2].constant_memory);
  EXPECT_EQ(p[3].access, Access::read_write);
  EXPECT_EQ(p[3].type, p[2].type);
  EXPECT_TRUE(p[4].constant_memory);
  EXPECT_EQ(p[5].type.data_type, DataType::uint1);
  EXPECT_EQ(p[6].type.data_type, DataType::none);
  EXPECT_EQ(p[7].type.data_type, DataType::float3);
  EXPECT_EQ(p[7].type.size, 12u);
  EXPECT_EQ(p[7].type.alignment, 4u);
  EXPECT_EQ(p[8].type.data_type, DataType::array);
  EXPECT_EQ(p[8].type.array_length, 5u);
  EXPECT_EQ(p[8].type.size, 20u);
}

TEST(Reflection, DescribesStructsDownToTheirMembers) {
  const Function f = function_of(R"(
    enum class Mode : ushort { fast, slow };
    struct Inner { half2 h; bool flag; };
    struct Base { int id; };
    struct Outer : Base {
      float3 position;
      packed_float3 packed;
      Inner inner[2];
      float4x4 matrix;
      half3x2 small;
      Mode mode;
      array<uint, 3> counts;
      bfloat b;
      long big;
      uchar bytes[3][2];
    };
    kernel void f(constant Outer& o) { })");
  const Type& type = f.parameters.at(0).type;
  const auto expect = [&](const char* name, DataType data_type, uint64_t offset, uint64_t size, uint32_t alignment) {
    const StructMember& m = member(type, name);
    EXPECT_EQ(m.type.data_type, data_type) << name;
    EXPECT_EQ(m.offset, offset) << name;
    EXPECT_EQ(m.type.size, size) << name;
    EXPECT_EQ(m.type.alignment, alignment) << name;
  };
  EXPECT_EQ(type.name, "Outer");
  expect("id", DataType::int1, 0, 4, 4);
  expect("position", DataType::float3, 16, 16, 16);
  expect("packed", DataType::float3, 32, 12, 4);
  expect("inner", DataType::array, 44, 16, 4);
  expect("matrix", DataType::float4x4, 64, 64, 16);
  expect("small", DataType::half3x2, 128, 12, 4);
  expect("mode", DataType::ushort1, 140, 2, 2);
  expect("counts", DataType::array, 144, 12, 4);
  expect("b", DataType::bfloat1, 156, 2, 2);
  expect("big", DataType::long1, 160, 8, 8);
  expect("bytes", DataType::array, 168, 6, 1);
  EXPECT_EQ(type.size, 176u);
  EXPECT_EQ(type.alignment, 16u);
  EXPECT_EQ(member(type, "packed").type.name, "packed_float3");
  EXPECT_EQ(member(type, "mode").type.name, "Mode");
  EXPECT_EQ(member(type, "counts").type.array_length, 3u);
  EXPECT_EQ(member(type, "bytes").type.array_length, 3u);
  EXPECT_EQ(member(type, "bytes").type.element.at(0).array_length, 2u);
  const Type& inner = member(type, "inner").type.element.at(0);
  EXPECT_EQ(inner.name, "Inner");
  EXPECT_EQ(member(inner, "flag").offset, 4u);
  EXPECT_EQ(member(inner, "flag").type.data_type, DataType::bool1);
}

TEST(Reflection, DescribesEveryScalarAndVectorType) {
  const char* scalars[] = {"float", "half",  "int",  "uint", "short", "ushort",
                           "char",  "uchar", "bool", "long", "ulong", "bfloat"};
  std::string source = "\nkernel void f(";
  std::vector<std::string> types;
  for (const char* scalar : scalars)
    for (const char* size : {"", "2", "3"}) types.push_back(std::string(scalar) + size);
  for (const char* chunk : {"first", "second"}) {
    const bool first = std::string_view(chunk) == "first";
    const size_t begin = first ? 0 : 18, end = first ? 18 : types.size();
    std::string text = "\nkernel void f(";
    for (size_t i = begin; i < end; ++i)
      text += (i > begin ? ", device " : "device ") + types[i] + "* p" + std::to_string(i);
    const Function f = function_of(text + ") {}");
    ASSERT_EQ(f.parameters.size(), end - begin);
    for (size_t i = begin; i < end; ++i) EXPECT_EQ(to_string(f.parameters[i - begin].type.data_type), types[i]);
  }
}

TEST(Reflection, DescribesTextures) {
  const Function f = function_of(R"(
    kernel void f(texture1d<float> a, texture1d_array<half> b, texture2d<int, access::write> c,
                  texture2d_array<uint, access::read_write> d, texture3d<float, access::read> e, texturecube<float> g,
                  texturecube_array<half> h, texture_buffer<float, access::read> k, depth2d<float> m,
                  texture2d_ms<float> n) { })");
  const struct {
    TextureType type;
    DataType data_type;
    Access access;
  } expected[] = {
      {TextureType::texture_1d, DataType::float1, Access::read},
      {TextureType::texture_1d_array, DataType::half1, Access::read},
      {TextureType::texture_2d, DataType::int1, Access::write},
      {TextureType::texture_2d_array, DataType::uint1, Access::read_write},
      {TextureType::texture_3d, DataType::float1, Access::read},
      {TextureType::texture_cube, DataType::float1, Access::read},
      {TextureType::texture_cube_array, DataType::half1, Access::read},
      {TextureType::texture_buffer, DataType::float1, Access::read},
      {TextureType::texture_2d, DataType::float1, Access::read},
      {TextureType::texture_2d_multisample, DataType::float1, Access::read},
  };
  ASSERT_EQ(f.parameters.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const Parameter& parameter = f.parameters[i];
    EXPECT_EQ(parameter.kind, ParameterKind::texture);
    EXPECT_EQ(parameter.index, i);
    EXPECT_EQ(parameter.type.data_type, DataType::texture);
    EXPECT_EQ(parameter.type.texture_type, expected[i].type) << parameter.name;
    EXPECT_EQ(parameter.type.texture_data_type, expected[i].data_type) << parameter.name;
    EXPECT_EQ(parameter.access, expected[i].access) << parameter.name;
  }
}

TEST(Reflection, KeepsTheOrderAndThePlacesOfTheSource) {
  const auto library = library_of(R"(
    kernel void second_in_alphabet() {}
    namespace inner { [[host_name("renamed")]] kernel void
        first() {} }
    [[visible]] float twice(float x) { return x * 2; }
    template <typename T> kernel void typed(device T* x) { x[0] = 1; }
    template [[host_name("typed_float")]] kernel void typed<float>(device float*);)");
  ASSERT_TRUE(library);
  const auto& functions = library->functions();
  ASSERT_EQ(functions.size(), 4u);
  const auto expect = [&](size_t i, const char* name, const char* source_name, FunctionKind kind, uint32_t line,
                          uint32_t column) {
    EXPECT_EQ(functions[i].name, name);
    EXPECT_EQ(functions[i].source_name, source_name);
    EXPECT_EQ(functions[i].kind, kind);
    EXPECT_EQ(functions[i].location, (SourceLocation{"program_source", line, column}));
  };
  expect(0, "second_in_alphabet", "second_in_alphabet", FunctionKind::kernel, 2, 17);
  expect(1, "renamed", "inner::first", FunctionKind::kernel, 4, 9);
  expect(2, "twice", "twice", FunctionKind::visible, 5, 23);
  expect(3, "typed_float", "typed", FunctionKind::kernel, 6, 39);
  EXPECT_EQ(library->find("first"), nullptr);
  EXPECT_EQ(library->find("renamed"), &functions[1]);
}

TEST(Reflection, NamesHaveTheirNamespaces) {
  const auto library = library_of(R"(
    namespace filters {
    constant bool is_masked [[function_constant(0)]];
    constant float scale [[function_constant(1)]];
    constant float scale_or_one = is_function_constant_defined(scale) ? scale : 1.0f;
    kernel void blur(device float* x, device float* mask [[function_constant(is_masked)]]) {
      x[0] = is_masked ? mask[0] : scale_or_one;
    }
    namespace { kernel void hidden() {} }
    inline namespace v2 { kernel void sharpen() {} }
    }
    namespace others {
    kernel void blur(device float* x, device float* mask [[function_constant(filters::is_masked)]]) { x[0] = 1; }
    [[visible]] float twice(float x) { return x * 2; }
    })");
  ASSERT_TRUE(library);
  std::vector<std::string> names;
  for (const Function& function : library->functions()) names.push_back(function.name);
  EXPECT_EQ(names, (std::vector<std::string>{"filters::blur", "filters::hidden", "filters::sharpen", "others::blur",
                                             "others::twice"}));
  for (const char* name : {"filters::blur", "others::blur"}) {
    const Parameter& mask = library->find(name)->parameters[1];
    EXPECT_EQ(mask.function_constant, "filters::is_masked");
    EXPECT_EQ(mask.function_constant_index, 0u);
  }
  const auto code = library->code("filters::blur");
  ASSERT_TRUE(code);
  ASSERT_EQ((*code)->function_constants.size(), 2u);
  EXPECT_EQ((*code)->function_constants[0].name, "filters::is_masked");
  EXPECT_TRUE((*code)->function_constants[0].required);
  EXPECT_EQ((*code)->function_constants[1].name, "filters::scale");
  EXPECT_FALSE((*code)->function_constants[1].required);
}

TEST(Reflection, GridValuesOutsideOfFunctionsAreParametersOfKernels) {
  const auto library = library_of(R"(
    uint3 position [[thread_position_in_grid]];
    namespace grid { [[threads_per_grid]] ushort2 size; }
    uint index() { return position.x + grid::size.x * position.y; }
    kernel void k(device uint* x, uint lane [[thread_index_in_simdgroup]]) { x[index()] = lane; }
    [[visible]] float twice(float x) { return x * 2; })");
  ASSERT_TRUE(library);
  const auto& parameters = library->find("k")->parameters;
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[2].name, "position");
  EXPECT_EQ(parameters[2].grid_value, GridValue::thread_position_in_grid);
  EXPECT_EQ(parameters[2].type.data_type, DataType::uint3);
  EXPECT_EQ(parameters[3].name, "grid::size");
  EXPECT_EQ(parameters[3].grid_value, GridValue::threads_per_grid);
  EXPECT_EQ(parameters[3].type.data_type, DataType::ushort2);
  EXPECT_EQ(library->find("twice")->parameters.size(), 1u);
  EXPECT_TRUE(library->code("k"));
}

TEST(Reflection, TellsThreadLimits) {
  const auto library = library_of(R"(
    constexpr constant int limit = 96;
    [[max_total_threads_per_threadgroup(256)]] kernel void a() {}
    kernel [[max_total_threads_per_threadgroup(limit * 2)]] void b() {}
    kernel void c() {}
    template <int N> [[max_total_threads_per_threadgroup(N * 32)]] kernel void d(device int* x) { x[0] = N; }
    template [[host_name("d_2")]] kernel void d<2>(device int*);
    template [[host_name("d_4")]] kernel void d<4>(device int*);
    template <typename T, uint W = sizeof(T)> kernel void e(device T* x) [[max_total_threads_per_threadgroup(W)]] { x[0] = 1; }
    template [[host_name("e_float4")]] kernel void e<float4>(device float4*);)");
  ASSERT_TRUE(library);
  const auto limit = [&](const char* name) { return library->find(name)->max_total_threads_per_threadgroup; };
  EXPECT_EQ(limit("a"), 256u);
  EXPECT_EQ(limit("b"), 192u);
  EXPECT_EQ(limit("c"), std::nullopt);
  EXPECT_EQ(limit("d_2"), 64u);
  EXPECT_EQ(limit("d_4"), 128u);
  EXPECT_EQ(limit("e_float4"), 16u);
}

TEST(Reflection, OfTemplateKernelsIsThatOfTheirInstance) {
  const auto library = library_of(R"(
    template <typename T, int N> struct Block { T values[N]; };
    template <typename T, int N> kernel void f(device Block<T, N>* b [[buffer(2)]], constant T& scale,
                                               uint i [[thread_position_in_grid]]) { b[i].values[0] *= scale; }
    template [[host_name("f_half_4")]] kernel void f<half, 4>(device Block<half, 4>*, constant half&, uint);
    template [[host_name("f_int_3")]] kernel decltype(f<int, 3>) f<int, 3>;)");
  ASSERT_TRUE(library);
  const Function& half4 = *library->find("f_half_4");
  EXPECT_EQ(half4.parameters.at(0).index, 2u);
  EXPECT_EQ(half4.parameters[0].type.size, 8u);
  EXPECT_EQ(half4.parameters[0].type.members.at(0).type.element.at(0).data_type, DataType::half1);
  EXPECT_EQ(half4.parameters.at(1).index, 0u);
  EXPECT_EQ(half4.parameters.at(2).grid_value, GridValue::thread_position_in_grid);
  const Function& int3 = *library->find("f_int_3");
  EXPECT_EQ(int3.parameters.at(0).index, 2u);
  EXPECT_EQ(int3.parameters[0].type.size, 12u);
  EXPECT_EQ(int3.parameters.at(1).type.data_type, DataType::int1);
  EXPECT_EQ(int3.parameters.at(1).name, "scale");
}

TEST(Reflection, OfPointersToThemselvesEnds) {
  const Function f = function_of(R"(
    struct Node { float value; device Node* next; };
    kernel void f(device Node* head) { head->value = head->next->value; })");
  const Type& node = f.parameters.at(0).type;
  const Type& next = member(node, "next").type;
  EXPECT_EQ(next.data_type, DataType::pointer);
  EXPECT_EQ(next.size, 8u);
  EXPECT_EQ(next.element.at(0).name, "Node");
  EXPECT_TRUE(next.element[0].members.empty());
}

}  // namespace
}  // namespace metalloid
