#include <cstring>
#include <vector>

#include "resource_program.hpp"

namespace {

class ArgumentBuffer : public ResourceProgram {
 protected:
  NS::SharedPtr<MTL::Buffer> new_buffer(NS::UInteger length) {
    return NS::TransferPtr(device->newBuffer(length, MTL::ResourceStorageModeShared));
  }
  NS::SharedPtr<MTL::Buffer> buffer_of(std::vector<float> values) {
    return NS::TransferPtr(
        device->newBuffer(values.data(), values.size() * sizeof(float), MTL::ResourceStorageModeShared));
  }
  NS::SharedPtr<MTL::Texture> new_texture(float texel) {
    auto texture = NS::TransferPtr(
        device->newTexture(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR32Float, 1, 1, false)));
    texture->replaceRegion(MTL::Region::Make2D(0, 0, 1, 1), 0, &texel, 4);
    return texture;
  }
};

const char* const everything = R"(
  using namespace metal;
  struct Inner { device const float* values; float factor; };
  struct Arguments {
    device float* out [[id(0)]];
    float scale [[id(1)]];
    array<texture2d<float>, 3> textures [[id(10)]];
    sampler look [[id(20)]];
    device const float* inputs[2] [[id(30)]];
    constant Inner* inner [[id(40)]];
  };
  kernel void use(constant Arguments& arguments [[buffer(2)]]) {
    device float* out = arguments.out;
    out[0] = arguments.scale;
    for (uint i = 0; i < 3; ++i) out[1 + i] = arguments.textures[i].sample(arguments.look, float2(0.5)).x;
    out[4] = arguments.inputs[0][0];
    out[5] = arguments.inputs[1][0];
    out[6] = arguments.inner->values[1] * arguments.inner->factor;
  })";

TEST_F(ArgumentBuffer, AKernelFindsWhatTheEncoderWrote) {
  auto function = function_from(everything, "use");
  auto encoder = NS::TransferPtr(function->newArgumentEncoder(2));
  ASSERT_TRUE(encoder);
  EXPECT_EQ(encoder->device(), device.get());
  EXPECT_GE(encoder->encodedLength(), 8u + 4 + 3 * 8 + 8 + 2 * 8 + 8);
  auto inner_encoder = NS::TransferPtr(encoder->newArgumentEncoder(40));
  ASSERT_TRUE(inner_encoder);

  auto arguments = new_buffer(encoder->encodedLength()), inner = new_buffer(inner_encoder->encodedLength());
  auto out = new_buffer(7 * sizeof(float));
  auto first = buffer_of({5}), second = buffer_of({0, 6}), values = buffer_of({1, 7});
  const NS::SharedPtr<MTL::Texture> textures[] = {new_texture(2), new_texture(3), new_texture(4)};
  auto sampler_descriptor = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  sampler_descriptor->setSupportArgumentBuffers(true);
  auto sampler = NS::TransferPtr(device->newSamplerState(sampler_descriptor.get()));

  encoder->setArgumentBuffer(arguments.get(), 0);
  encoder->setBuffer(out.get(), 0, 0);
  *static_cast<float*>(encoder->constantData(1)) = 1.5f;
  encoder->setTexture(textures[0].get(), 10);
  const MTL::Texture* rest[] = {textures[1].get(), textures[2].get()};
  encoder->setTextures(rest, NS::Range(11, 2));
  encoder->setSamplerState(sampler.get(), 20);
  const MTL::Buffer* inputs[] = {first.get(), second.get()};
  const NS::UInteger offsets[] = {0, sizeof(float)};
  encoder->setBuffers(inputs, offsets, NS::Range(30, 2));
  encoder->setBuffer(inner.get(), 0, 40);
  inner_encoder->setArgumentBuffer(inner.get(), 0);
  inner_encoder->setBuffer(values.get(), 0, 0);
  *static_cast<float*>(inner_encoder->constantData(1)) = 10;

  run_kernel(function, 1, [&](MTL::ComputeCommandEncoder* compute) {
    compute->setBuffer(arguments.get(), 0, 2);
    const MTL::Resource* used[] = {inner.get(), out.get(), first.get(), second.get(), values.get()};
    compute->useResources(used, 5, MTL::ResourceUsageRead | MTL::ResourceUsageWrite);
  });
  const float expected[] = {1.5f, 2, 3, 4, 5, 6, 70};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(static_cast<float*>(out->contents())[i], expected[i]) << i;
}

TEST_F(ArgumentBuffer, WrongIndicesAndTypesWriteNothing) {
  auto function = function_from(everything, "use");
  auto encoder = NS::TransferPtr(function->newArgumentEncoder(2));
  auto arguments = new_buffer(encoder->encodedLength()), other = new_buffer(64);
  auto texture = new_texture(1);
  encoder->setBuffer(other.get(), 0, 0);  // no argument buffer yet
  EXPECT_EQ(encoder->constantData(1), nullptr);
  encoder->setArgumentBuffer(arguments.get(), 0);
  encoder->setBuffer(other.get(), 0, 5);
  encoder->setBuffer(other.get(), 0, 10);
  encoder->setBuffer(other.get(), 65, 0);
  encoder->setTexture(texture.get(), 0);
  encoder->setTexture(texture.get(), 13);
  encoder->setArgumentBuffer(other.get(), 8);  // too small
  encoder->setBuffer(other.get(), 0, 0);
  for (const MTL::Buffer* buffer : {arguments.get(), other.get()}) {
    const auto* bytes = static_cast<const uint8_t*>(const_cast<MTL::Buffer*>(buffer)->contents());
    for (NS::UInteger i = 0; i < buffer->length(); ++i) ASSERT_EQ(bytes[i], 0) << i;
  }
  EXPECT_EQ(function->newArgumentEncoder(0), nullptr);
  EXPECT_EQ(encoder->newArgumentEncoder(1), nullptr);
}

TEST_F(ArgumentBuffer, ElementsOfAnArrayOfStructsAreEncodedOneByOne) {
  auto function = function_from(R"(
    struct Item { device float* out; float value; };
    kernel void store(device const Item* items, uint i [[thread_position_in_grid]]) { *items[i].out = items[i].value; }
  )",
                                "store");
  auto encoder = NS::TransferPtr(function->newArgumentEncoder(0));
  ASSERT_TRUE(encoder);
  auto items = new_buffer(256 + 4 * encoder->encodedLength()), out = new_buffer(4 * sizeof(float));
  for (NS::UInteger i = 0; i < 4; ++i) {
    encoder->setArgumentBuffer(items.get(), 256, i);
    encoder->setBuffer(out.get(), (3 - i) * sizeof(float), 0);
    *static_cast<float*>(encoder->constantData(1)) = static_cast<float>(i + 1);
  }
  run_kernel(function, 4, [&](MTL::ComputeCommandEncoder* compute) {
    compute->setBuffer(items.get(), 256, 0);
    compute->useResource(out.get(), MTL::ResourceUsageWrite);
  });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(static_cast<float*>(out->contents())[i], static_cast<float>(4 - i));
}

TEST_F(ArgumentBuffer, MembersOfNestedStructsAndArraysCountOn) {
  auto function = function_from(R"(
    struct Item { device const float* values; float factor; };
    struct Arguments { Item items[2]; float weights[3]; Item last; device float* out; };
    kernel void sum(constant Arguments& arguments) {
      float sum = arguments.last.values[0] * arguments.last.factor;
      for (uint i = 0; i < 2; ++i) sum += arguments.items[i].values[0] * arguments.items[i].factor;
      for (uint i = 0; i < 3; ++i) sum += arguments.weights[i];
      *arguments.out = sum;
    })",
                                "sum");
  auto encoder = NS::TransferPtr(function->newArgumentEncoder(0));
  ASSERT_TRUE(encoder);
  auto arguments = new_buffer(encoder->encodedLength()), out = new_buffer(4);
  auto one = buffer_of({1}), two = buffer_of({2}), three = buffer_of({3});
  encoder->setArgumentBuffer(arguments.get(), 0);
  encoder->setBuffer(one.get(), 0, 0);
  *static_cast<float*>(encoder->constantData(1)) = 10;
  encoder->setBuffer(two.get(), 0, 2);
  *static_cast<float*>(encoder->constantData(3)) = 100;
  const float weights[] = {0.125f, 0.25f, 0.5f};
  std::memcpy(encoder->constantData(4), weights, sizeof weights);
  encoder->setBuffer(three.get(), 0, 7);
  *static_cast<float*>(encoder->constantData(8)) = 1000;
  encoder->setBuffer(out.get(), 0, 9);
  run_kernel(function, 1, [&](MTL::ComputeCommandEncoder* compute) { compute->setBuffer(arguments.get(), 0, 0); });
  EXPECT_EQ(*static_cast<float*>(out->contents()), 10 + 200 + 3000 + 0.875f);
}

TEST_F(ArgumentBuffer, PlainMemoryWithAddressesAndHandlesDoesAsWell) {
  auto function = function_from(R"(
    using namespace metal;
    struct Arguments { device float* out; texture2d<float> texture; sampler look; };
    kernel void use(device const Arguments& arguments) {
      *arguments.out = arguments.texture.sample(arguments.look, float2(0.5)).x;
    })",
                                "use");
  auto out = new_buffer(4);
  auto texture = new_texture(42);
  auto sampler_descriptor = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  auto sampler = NS::TransferPtr(device->newSamplerState(sampler_descriptor.get()));
  struct {
    uint64_t out;
    MTL::ResourceID texture, sampler;
  } arguments = {out->gpuAddress(), texture->gpuResourceID(), sampler->gpuResourceID()};
  run_kernel(function, 1,
             [&](MTL::ComputeCommandEncoder* compute) { compute->setBytes(&arguments, sizeof arguments, 0); });
  EXPECT_EQ(*static_cast<float*>(out->contents()), 42);
}

TEST_F(ArgumentBuffer, DescriptorsLayOutAsTheShaderDoes) {
  const auto argument = [](NS::UInteger index, MTL::DataType type, NS::UInteger length = 0) {
    auto* descriptor = MTL::ArgumentDescriptor::argumentDescriptor();
    descriptor->setIndex(index);
    descriptor->setDataType(type);
    descriptor->setArrayLength(length);
    return descriptor;
  };
  // struct { device float* out; uchar tag; float3 colour; half4x2 matrix; texture2d<float> texture; bool last; };
  const NS::Object* descriptors[] = {argument(5, MTL::DataTypeBool),    argument(0, MTL::DataTypePointer),
                                     argument(1, MTL::DataTypeUChar),   argument(2, MTL::DataTypeFloat3),
                                     argument(3, MTL::DataTypeHalf4x2), argument(4, MTL::DataTypeTexture, 1)};
  auto encoder = NS::TransferPtr(device->newArgumentEncoder(NS::Array::array(descriptors, 6)));
  ASSERT_TRUE(encoder);
  EXPECT_EQ(encoder->alignment(), 16u);
  EXPECT_EQ(encoder->encodedLength(), 64u);
  auto buffer = new_buffer(encoder->encodedLength());
  encoder->setArgumentBuffer(buffer.get(), 0);
  const auto offset = [&](NS::UInteger index) {
    return static_cast<char*>(encoder->constantData(index)) - static_cast<char*>(buffer->contents());
  };
  EXPECT_EQ(offset(1), 8);
  EXPECT_EQ(offset(2), 16);
  EXPECT_EQ(offset(3), 32);
  EXPECT_EQ(offset(4), 48);
  EXPECT_EQ(offset(5), 56);

  const NS::Object* twice[] = {argument(0, MTL::DataTypeTexture, 2), argument(1, MTL::DataTypeFloat)};
  EXPECT_EQ(device->newArgumentEncoder(NS::Array::array(twice, 2)), nullptr);
  const NS::Object* unknown[] = {argument(0, MTL::DataTypeNone)};
  EXPECT_EQ(device->newArgumentEncoder(NS::Array::array(unknown, 1)), nullptr);
}

TEST_F(ArgumentBuffer, ABindingOfThePipelineMakesTheSameEncoderAsTheFunction) {
  auto function = function_from(everything, "use");
  MTL::ComputePipelineReflection* reflection = nullptr;
  NS::Error* error = nullptr;
  auto pipeline = NS::TransferPtr(
      device->newComputePipelineState(function.get(), MTL::PipelineOptionBindingInfo, &reflection, &error));
  ASSERT_NE(reflection, nullptr);
  auto* binding = reflection->bindings()->object<MTL::BufferBinding>(0);
  auto from_binding = NS::TransferPtr(device->newArgumentEncoder(binding));
  auto from_function = NS::TransferPtr(function->newArgumentEncoder(2));
  ASSERT_TRUE(from_binding && from_function);
  EXPECT_EQ(from_binding->encodedLength(), from_function->encodedLength());
  EXPECT_EQ(from_binding->alignment(), from_function->alignment());
}

}  // namespace
