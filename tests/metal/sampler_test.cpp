#include <cfloat>

#include "resource_program.hpp"

namespace {

class Sampler : public ResourceProgram {
 protected:
  NS::SharedPtr<MTL::SamplerDescriptor> descriptor = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());

  NS::SharedPtr<MTL::SamplerState> new_sampler() { return NS::TransferPtr(device->newSamplerState(descriptor.get())); }
};

TEST_F(Sampler, ADescriptorHasMetalsDefaultsAndCopies) {
  EXPECT_EQ(descriptor->minFilter(), MTL::SamplerMinMagFilterNearest);
  EXPECT_EQ(descriptor->mipFilter(), MTL::SamplerMipFilterNotMipmapped);
  EXPECT_EQ(descriptor->sAddressMode(), MTL::SamplerAddressModeClampToEdge);
  EXPECT_EQ(descriptor->maxAnisotropy(), 1u);
  EXPECT_TRUE(descriptor->normalizedCoordinates());
  EXPECT_EQ(descriptor->lodMinClamp(), 0);
  EXPECT_EQ(descriptor->lodMaxClamp(), FLT_MAX);
  EXPECT_EQ(descriptor->compareFunction(), MTL::CompareFunctionNever);
  EXPECT_EQ(descriptor->borderColor(), MTL::SamplerBorderColorTransparentBlack);
  EXPECT_FALSE(descriptor->supportArgumentBuffers());
  descriptor->setMagFilter(MTL::SamplerMinMagFilterLinear);
  descriptor->setLabel(string("linear"));
  auto copy = NS::TransferPtr(descriptor->copy());
  descriptor->setMagFilter(MTL::SamplerMinMagFilterNearest);
  EXPECT_EQ(copy->magFilter(), MTL::SamplerMinMagFilterLinear);
  EXPECT_STREQ(copy->label()->utf8String(), "linear");
}

TEST_F(Sampler, AStateKnowsItsLabelAndDevice) {
  descriptor->setLabel(string("linear"));
  auto sampler = new_sampler();
  ASSERT_TRUE(sampler);
  EXPECT_STREQ(sampler->label()->utf8String(), "linear");
  EXPECT_EQ(sampler->device(), device.get());
  EXPECT_NE(sampler->gpuResourceID()._impl, 0u);
}

TEST_F(Sampler, ValuesThatNoSamplerHasGiveNull) {
  descriptor->setMaxAnisotropy(0);
  EXPECT_FALSE(new_sampler());
  descriptor->setMaxAnisotropy(17);
  EXPECT_FALSE(new_sampler());
  descriptor->setMaxAnisotropy(16);
  EXPECT_TRUE(new_sampler());
  descriptor->setSAddressMode(static_cast<MTL::SamplerAddressMode>(9));
  EXPECT_FALSE(new_sampler());
  EXPECT_EQ(device->newSamplerState(nullptr), nullptr);
}

TEST_F(Sampler, AKernelFiltersAsTheDescriptorSays) {
  auto function = function_from(R"(
    using namespace metal;
    kernel void look(texture2d<float> texture [[texture(0)]], sampler nearest [[sampler(0)]],
                     sampler linear [[sampler(1)]], device float* out) {
      out[0] = texture.sample(nearest, float2(0.4, 0.5)).x;
      out[1] = texture.sample(linear, float2(0.5, 0.5)).x;
      out[2] = texture.sample(nearest, float2(1.1, 0.5)).x;
      out[3] = texture.sample(linear, float2(1.25, 0.5)).x;
    })",
                                "look");
  auto texture = NS::TransferPtr(
      device->newTexture(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR32Float, 2, 1, false)));
  const float texels[2] = {10, 20};
  texture->replaceRegion(MTL::Region::Make2D(0, 0, 2, 1), 0, texels, sizeof texels);
  auto nearest = new_sampler();
  descriptor->setMinFilter(MTL::SamplerMinMagFilterLinear);
  descriptor->setMagFilter(MTL::SamplerMinMagFilterLinear);
  descriptor->setSAddressMode(MTL::SamplerAddressModeRepeat);
  auto linear = new_sampler();
  auto out = NS::TransferPtr(device->newBuffer(16, MTL::ResourceStorageModeShared));
  run_kernel(function, 1, [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setTexture(texture.get(), 0);
    encoder->setSamplerState(nearest.get(), 0);
    encoder->setSamplerState(linear.get(), 1);
    encoder->setBuffer(out.get(), 0, 0);
  });
  const auto* result = static_cast<const float*>(out->contents());
  EXPECT_EQ(result[0], 10);
  EXPECT_FLOAT_EQ(result[1], 15);
  EXPECT_EQ(result[2], 20) << "clamped to the edge";
  EXPECT_FLOAT_EQ(result[3], 10) << "repeated";
}

}  // namespace
