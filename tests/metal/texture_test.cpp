#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "resource_program.hpp"

namespace {

class Texture : public ResourceProgram {
 protected:
  NS::SharedPtr<MTL::Texture> new_texture(const MTL::TextureDescriptor* descriptor) {
    return NS::TransferPtr(device->newTexture(descriptor));
  }
  MTL::TextureDescriptor* describe(MTL::TextureType type, MTL::PixelFormat format, NS::UInteger width,
                                   NS::UInteger height = 1, NS::UInteger depth = 1, NS::UInteger length = 1) {
    auto* descriptor = MTL::TextureDescriptor::alloc()->init()->autorelease();
    descriptor->setTextureType(type);
    descriptor->setPixelFormat(format);
    descriptor->setWidth(width);
    descriptor->setHeight(height);
    descriptor->setDepth(depth);
    descriptor->setArrayLength(length);
    descriptor->setUsage(MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
    return descriptor;
  }
  NS::SharedPtr<MTL::Buffer> new_buffer(NS::UInteger length) {
    return NS::TransferPtr(device->newBuffer(length, MTL::ResourceStorageModeShared));
  }
  std::vector<float> ramp(size_t count, float first = 0) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
  }
};

TEST_F(Texture, ADescriptorHasMetalsDefaultsAndCopies) {
  auto descriptor = NS::TransferPtr(MTL::TextureDescriptor::alloc()->init());
  EXPECT_EQ(descriptor->textureType(), MTL::TextureType2D);
  EXPECT_EQ(descriptor->pixelFormat(), MTL::PixelFormatRGBA8Unorm);
  EXPECT_EQ(descriptor->width(), 1u);
  EXPECT_EQ(descriptor->mipmapLevelCount(), 1u);
  EXPECT_EQ(descriptor->usage(), MTL::TextureUsageShaderRead);
  EXPECT_TRUE(descriptor->allowGPUOptimizedContents());
  EXPECT_EQ(descriptor->swizzle().blue, MTL::TextureSwizzleBlue);
  descriptor->setResourceOptions(MTL::ResourceStorageModePrivate | MTL::ResourceHazardTrackingModeUntracked);
  EXPECT_EQ(descriptor->storageMode(), MTL::StorageModePrivate);
  EXPECT_EQ(descriptor->hazardTrackingMode(), MTL::HazardTrackingModeUntracked);
  auto copy = NS::TransferPtr(descriptor->copy());
  descriptor->setWidth(9);
  EXPECT_EQ(copy->width(), 1u);
  EXPECT_EQ(copy->storageMode(), MTL::StorageModePrivate);
}

TEST_F(Texture, MipmappedDescriptorsHaveEveryLevel) {
  EXPECT_EQ(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR8Unorm, 256, 300, true)->mipmapLevelCount(),
            9u);
  EXPECT_EQ(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR8Unorm, 256, 300, false)->mipmapLevelCount(),
            1u);
  auto* cube = MTL::TextureDescriptor::textureCubeDescriptor(MTL::PixelFormatR8Unorm, 64, true);
  EXPECT_EQ(cube->textureType(), MTL::TextureTypeCube);
  EXPECT_EQ(cube->height(), 64u);
  EXPECT_EQ(cube->mipmapLevelCount(), 7u);
  auto* buffer = MTL::TextureDescriptor::textureBufferDescriptor(
      MTL::PixelFormatR32Uint, 100, MTL::ResourceStorageModePrivate, MTL::TextureUsageShaderWrite);
  EXPECT_EQ(buffer->textureType(), MTL::TextureTypeTextureBuffer);
  EXPECT_EQ(buffer->storageMode(), MTL::StorageModePrivate);
  EXPECT_EQ(buffer->usage(), MTL::TextureUsageShaderWrite);
}

TEST_F(Texture, PropertiesSayWhatWasAskedFor) {
  auto* descriptor = describe(MTL::TextureTypeCubeArray, MTL::PixelFormatRGBA16Float, 32, 32, 1, 4);
  descriptor->setMipmapLevelCount(3);
  auto texture = new_texture(descriptor);
  ASSERT_TRUE(texture);
  EXPECT_EQ(texture->textureType(), MTL::TextureTypeCubeArray);
  EXPECT_EQ(texture->pixelFormat(), MTL::PixelFormatRGBA16Float);
  EXPECT_EQ(texture->width(), 32u);
  EXPECT_EQ(texture->height(), 32u);
  EXPECT_EQ(texture->depth(), 1u);
  EXPECT_EQ(texture->arrayLength(), 4u);
  EXPECT_EQ(texture->mipmapLevelCount(), 3u);
  EXPECT_EQ(texture->sampleCount(), 1u);
  EXPECT_EQ(texture->usage(), MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
  EXPECT_EQ(texture->parentTexture(), nullptr);
  EXPECT_EQ(texture->buffer(), nullptr);
  EXPECT_NE(texture->gpuResourceID()._impl, 0u);
  EXPECT_GE(texture->allocatedSize(), 4u * 6 * 8 * (32 * 32 + 16 * 16 + 8 * 8));
}

TEST_F(Texture, WhatCannotBeATextureGivesNull) {
  const auto fails = [this](MTL::TextureDescriptor* descriptor) {
    return !NS::TransferPtr(device->newTexture(descriptor));
  };
  EXPECT_TRUE(fails(describe(MTL::TextureType2D, MTL::PixelFormatInvalid, 4, 4)));
  EXPECT_TRUE(fails(describe(MTL::TextureType2D, MTL::PixelFormatBC1_RGBA, 4, 4)));
  EXPECT_TRUE(fails(describe(MTL::TextureType2D, MTL::PixelFormatASTC_4x4_LDR, 4, 4)));
  EXPECT_TRUE(fails(describe(MTL::TextureType2D, MTL::PixelFormatR8Unorm, 0, 4)));
  EXPECT_TRUE(fails(describe(MTL::TextureType2D, MTL::PixelFormatR8Unorm, 16385, 4)));
  EXPECT_TRUE(fails(describe(MTL::TextureType2D, MTL::PixelFormatR8Unorm, 4, 4, 2)));
  EXPECT_TRUE(fails(describe(MTL::TextureType2D, MTL::PixelFormatR8Unorm, 4, 4, 1, 2)));
  EXPECT_TRUE(fails(describe(MTL::TextureType1D, MTL::PixelFormatR8Unorm, 4, 4)));
  EXPECT_TRUE(fails(describe(MTL::TextureTypeCube, MTL::PixelFormatR8Unorm, 4, 8)));
  EXPECT_TRUE(fails(describe(MTL::TextureType3D, MTL::PixelFormatR8Unorm, 2049, 1, 1)));
  EXPECT_TRUE(fails(describe(MTL::TextureType3D, MTL::PixelFormatDepth32Float, 4, 4, 4)));
  EXPECT_TRUE(fails(describe(MTL::TextureType2DArray, MTL::PixelFormatR8Unorm, 4, 4, 1, 2049)));
  auto* too_many_levels = describe(MTL::TextureType2D, MTL::PixelFormatR8Unorm, 16, 16);
  too_many_levels->setMipmapLevelCount(6);
  EXPECT_TRUE(fails(too_many_levels));
  auto* samples = describe(MTL::TextureType2D, MTL::PixelFormatR8Unorm, 16, 16);
  samples->setSampleCount(4);
  EXPECT_TRUE(fails(samples));
  auto* memoryless = describe(MTL::TextureType2D, MTL::PixelFormatR8Unorm, 16, 16);
  memoryless->setStorageMode(MTL::StorageModeMemoryless);
  EXPECT_TRUE(fails(memoryless));
  EXPECT_TRUE(fails(nullptr));
}

TEST_F(Texture, ARegionIsReadBackAsItWasWritten) {
  auto texture = new_texture(describe(MTL::TextureType2D, MTL::PixelFormatR32Float, 13, 7));
  const auto whole = MTL::Region::Make2D(0, 0, 13, 7);
  const auto texels = ramp(13 * 7);
  texture->replaceRegion(whole, 0, texels.data(), 13 * sizeof(float));
  const float patch[2][3] = {{-1, -2, -3}, {-4, -5, -6}};  // of which two columns are used
  texture->replaceRegion(MTL::Region::Make2D(4, 5, 2, 2), 0, patch, sizeof patch[0]);
  std::vector<float> result(13 * 7);
  texture->getBytes(result.data(), 13 * sizeof(float), whole, 0);
  auto expected = texels;
  expected[5 * 13 + 4] = -1;
  expected[5 * 13 + 5] = -2;
  expected[6 * 13 + 4] = -4;
  expected[6 * 13 + 5] = -5;
  EXPECT_EQ(result, expected);
}

TEST_F(Texture, LevelsAndSlicesAreApart) {
  auto* descriptor = describe(MTL::TextureType2DArray, MTL::PixelFormatR32Float, 8, 8, 1, 3);
  descriptor->setMipmapLevelCount(4);
  auto texture = new_texture(descriptor);
  ASSERT_TRUE(texture);
  for (NS::UInteger level = 0; level < 4; ++level)
    for (NS::UInteger slice = 0; slice < 3; ++slice) {
      const NS::UInteger side = 8 >> level;
      const auto texels = ramp(side * side, static_cast<float>(level * 1000 + slice * 100));
      texture->replaceRegion(MTL::Region::Make2D(0, 0, side, side), level, slice, texels.data(), side * 4, 0);
    }
  for (NS::UInteger level = 0; level < 4; ++level)
    for (NS::UInteger slice = 0; slice < 3; ++slice) {
      const NS::UInteger side = 8 >> level;
      std::vector<float> result(side * side);
      texture->getBytes(result.data(), side * 4, 0, MTL::Region::Make2D(0, 0, side, side), level, slice);
      EXPECT_EQ(result, ramp(side * side, static_cast<float>(level * 1000 + slice * 100)));
    }
}

TEST_F(Texture, AVolumeHasPlanesInDepth) {
  auto texture = new_texture(describe(MTL::TextureType3D, MTL::PixelFormatR32Float, 4, 3, 5));
  const auto texels = ramp(4 * 3 * 5);
  texture->replaceRegion(MTL::Region::Make3D(0, 0, 0, 4, 3, 5), 0, 0, texels.data(), 16, 48);
  std::vector<float> part(2 * 2);
  texture->getBytes(part.data(), 4, 8, MTL::Region::Make3D(3, 1, 2, 1, 2, 2), 0, 0);
  EXPECT_EQ(part, (std::vector<float>{24 + 4 + 3, 24 + 8 + 3, 36 + 4 + 3, 36 + 8 + 3}));
}

TEST_F(Texture, RegionsOutOfBoundsTouchNothing) {
  auto texture = new_texture(describe(MTL::TextureType2D, MTL::PixelFormatR32Float, 4, 4));
  std::vector<float> texels(64, 1), result(64, 7);
  texture->replaceRegion(MTL::Region::Make2D(1, 0, 4, 4), 0, texels.data(), 16);
  texture->replaceRegion(MTL::Region::Make2D(0, 0, 4, 4), 1, texels.data(), 16);
  texture->replaceRegion(MTL::Region::Make2D(0, 0, 4, 4), 0, 1, texels.data(), 16, 0);
  texture->replaceRegion(MTL::Region::Make2D(0, 0, 4, 4), 0, texels.data(), 8);
  texture->getBytes(result.data(), 16, MTL::Region::Make2D(0, NS::UIntegerMax, 1, 2), 0);
  EXPECT_EQ(result, std::vector<float>(64, 7));
  texture->getBytes(result.data(), 16, MTL::Region::Make2D(0, 0, 4, 4), 0);
  EXPECT_TRUE(std::all_of(result.begin(), result.begin() + 16, [](float texel) { return texel == 0; }));
  auto* descriptor = describe(MTL::TextureType2D, MTL::PixelFormatR32Float, 4, 4);
  descriptor->setStorageMode(MTL::StorageModePrivate);
  auto hidden = new_texture(descriptor);
  std::fill(result.begin(), result.end(), 7.0f);
  hidden->getBytes(result.data(), 16, MTL::Region::Make2D(0, 0, 4, 4), 0);
  EXPECT_EQ(result, std::vector<float>(64, 7)) << "the host cannot read private textures";
}

TEST_F(Texture, ABufferIsSeenAsATexture) {
  auto buffer = new_buffer(4096);
  const auto values = ramp(1024);
  std::memcpy(buffer->contents(), values.data(), 4096);
  const NS::UInteger alignment = device->minimumLinearTextureAlignmentForPixelFormat(MTL::PixelFormatR32Float);
  const NS::UInteger row = 8 * alignment;
  auto* descriptor = describe(MTL::TextureType2D, MTL::PixelFormatR32Float, 5, 3);
  auto texture = NS::TransferPtr(buffer->newTexture(descriptor, alignment, row));
  ASSERT_TRUE(texture);
  EXPECT_EQ(texture->buffer(), buffer.get());
  EXPECT_EQ(texture->rootResource(), buffer.get());
  EXPECT_EQ(texture->bufferOffset(), alignment);
  EXPECT_EQ(texture->bufferBytesPerRow(), row);
  float texel = 0;
  texture->getBytes(&texel, 4, MTL::Region::Make2D(4, 2, 1, 1), 0);
  EXPECT_EQ(texel, values[(alignment + 2 * row) / 4 + 4]);
  texel = -1;
  texture->replaceRegion(MTL::Region::Make2D(0, 0, 1, 1), 0, &texel, 4);
  EXPECT_EQ(static_cast<float*>(buffer->contents())[alignment / 4], -1);

  EXPECT_EQ(buffer->newTexture(descriptor, 1, row), nullptr);
  EXPECT_EQ(buffer->newTexture(descriptor, 0, alignment + 1), nullptr);
  EXPECT_EQ(buffer->newTexture(descriptor, 0, alignment), nullptr) << "less than a row";
  EXPECT_EQ(buffer->newTexture(descriptor, 4096, row), nullptr);
  EXPECT_EQ(buffer->newTexture(describe(MTL::TextureType3D, MTL::PixelFormatR32Float, 1), 0, row), nullptr);
}

TEST_F(Texture, AViewShowsTheSameTexelsInAnotherFormat) {
  auto* descriptor = describe(MTL::TextureType2D, MTL::PixelFormatR32Uint, 2, 2);
  descriptor->setUsage(MTL::TextureUsageShaderRead | MTL::TextureUsagePixelFormatView);
  auto texture = new_texture(descriptor);
  auto view = NS::TransferPtr(texture->newTextureView(MTL::PixelFormatRGBA8Unorm));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->parentTexture(), texture.get());
  EXPECT_EQ(view->pixelFormat(), MTL::PixelFormatRGBA8Unorm);
  const uint32_t value = 0x04030201;
  texture->replaceRegion(MTL::Region::Make2D(1, 1, 1, 1), 0, &value, 4);
  uint8_t channels[4] = {};
  view->getBytes(channels, 4, MTL::Region::Make2D(1, 1, 1, 1), 0);
  EXPECT_EQ(channels[0], 1);
  EXPECT_EQ(channels[3], 4);
  EXPECT_EQ(texture->newTextureView(MTL::PixelFormatR8Unorm), nullptr) << "texels of another size";
  texture.reset();
  view->getBytes(channels, 4, MTL::Region::Make2D(1, 1, 1, 1), 0);
  EXPECT_EQ(channels[1], 2) << "a view keeps its texture";
}

TEST_F(Texture, TheDebugLayerWantsViewsOfOtherFormatsToBeAnnounced) {
  auto texture = new_texture(describe(MTL::TextureType2D, MTL::PixelFormatRGBA8Unorm, 2, 2));
  const auto report_of = [&](MTL::PixelFormat format) {
    setenv("MTL_DEBUG_LAYER", "1", 1);
    testing::internal::CaptureStderr();
    auto view = NS::TransferPtr(texture->newTextureView(format));
    unsetenv("MTL_DEBUG_LAYER");
    EXPECT_TRUE(view);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(report_of(MTL::PixelFormatRGBA8Unorm), "");
  EXPECT_EQ(report_of(MTL::PixelFormatRGBA8Unorm_sRGB), "");
  EXPECT_NE(report_of(MTL::PixelFormatR32Float).find("MTLTextureUsagePixelFormatView"), std::string::npos);
}

TEST_F(Texture, AViewIsPartOfTheLevelsAndSlices) {
  auto* descriptor = describe(MTL::TextureType2DArray, MTL::PixelFormatR32Float, 8, 8, 1, 12);
  descriptor->setMipmapLevelCount(3);
  auto texture = new_texture(descriptor);
  const auto texels = ramp(4 * 4);
  texture->replaceRegion(MTL::Region::Make2D(0, 0, 4, 4), 1, 7, texels.data(), 16, 0);
  auto view = NS::TransferPtr(
      texture->newTextureView(MTL::PixelFormatR32Float, MTL::TextureType2D, NS::Range(1, 2), NS::Range(7, 1)));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->width(), 4u);
  EXPECT_EQ(view->mipmapLevelCount(), 2u);
  EXPECT_EQ(view->arrayLength(), 1u);
  EXPECT_EQ(view->parentRelativeLevel(), 1u);
  EXPECT_EQ(view->parentRelativeSlice(), 7u);
  std::vector<float> result(16);
  view->getBytes(result.data(), 16, MTL::Region::Make2D(0, 0, 4, 4), 0);
  EXPECT_EQ(result, texels);
  auto cube = NS::TransferPtr(
      texture->newTextureView(MTL::PixelFormatR32Float, MTL::TextureTypeCube, NS::Range(0, 1), NS::Range(6, 6)));
  EXPECT_TRUE(cube);
  const auto fails = [&](MTL::TextureType type, NS::Range levels, NS::Range slices) {
    return texture->newTextureView(MTL::PixelFormatR32Float, type, levels, slices) == nullptr;
  };
  EXPECT_TRUE(fails(MTL::TextureTypeCube, NS::Range(0, 1), NS::Range(0, 5)));
  EXPECT_TRUE(fails(MTL::TextureType2D, NS::Range(0, 1), NS::Range(0, 2)));
  EXPECT_TRUE(fails(MTL::TextureType2DArray, NS::Range(2, 2), NS::Range(0, 2)));
  EXPECT_TRUE(fails(MTL::TextureType2DArray, NS::Range(0, 1), NS::Range(11, 2)));
  EXPECT_TRUE(fails(MTL::TextureType2DArray, NS::Range(0, 0), NS::Range(0, 1)));
  EXPECT_TRUE(fails(MTL::TextureType3D, NS::Range(0, 1), NS::Range(0, 1)));
}

TEST_F(Texture, AKernelReadsAndWritesTexels) {
  auto function = function_from(R"(
    using namespace metal;
    kernel void twice(texture2d<float, access::read> in [[texture(0)]],
                      texture2d<float, access::write> out [[texture(1)]], uint i [[thread_position_in_grid]]) {
      const uint2 at(i % in.get_width(), i / in.get_width());
      out.write(2 * in.read(at), at);
    })",
                                "twice");
  auto in = new_texture(describe(MTL::TextureType2D, MTL::PixelFormatR32Float, 9, 5));
  auto out = new_texture(describe(MTL::TextureType2D, MTL::PixelFormatRGBA32Float, 9, 5));
  const auto texels = ramp(45);
  in->replaceRegion(MTL::Region::Make2D(0, 0, 9, 5), 0, texels.data(), 36);
  run_kernel(function, 45, [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setTexture(in.get(), 0);
    encoder->setTexture(out.get(), 1);
  });
  float result[45][4];
  out->getBytes(result, 9 * sizeof result[0], MTL::Region::Make2D(0, 0, 9, 5), 0);
  for (int i = 0; i < 45; ++i) {
    EXPECT_EQ(result[i][0], 2.0f * static_cast<float>(i));
    EXPECT_EQ(result[i][3], 2.0f) << "a missing alpha reads as 1";
  }
}

TEST_F(Texture, AKernelSeesViewsSlicesLevelsAndSwizzles) {
  auto function = function_from(R"(
    using namespace metal;
    kernel void look(texture2d<float> view [[texture(0)]], device float4* out, uint i [[thread_position_in_grid]]) {
      out[i] = view.read(uint2(i % view.get_width(), i / view.get_width()));
    })",
                                "look");
  auto* descriptor = describe(MTL::TextureType2DArray, MTL::PixelFormatRGBA8Unorm, 8, 8, 1, 3);
  descriptor->setMipmapLevelCount(3);
  auto texture = new_texture(descriptor);
  std::vector<uint8_t> texels(4 * 4 * 4);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<uint8_t>(i * 4);
  texture->replaceRegion(MTL::Region::Make2D(0, 0, 4, 4), 1, 2, texels.data(), 16, 0);
  auto view = NS::TransferPtr(
      texture->newTextureView(MTL::PixelFormatRGBA8Unorm, MTL::TextureType2D, NS::Range(1, 1), NS::Range(2, 1),
                              MTL::TextureSwizzleChannels(MTL::TextureSwizzleAlpha, MTL::TextureSwizzleOne,
                                                          MTL::TextureSwizzleRed, MTL::TextureSwizzleZero)));
  auto out = new_buffer(16 * 16);
  run_kernel(function, 16, [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setTexture(view.get(), 0);
    encoder->setBuffer(out.get(), 0, 0);
  });
  const auto* result = static_cast<const float*>(out->contents());
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_FLOAT_EQ(result[4 * i], static_cast<float>(texels[4 * i + 3]) / 255);
    EXPECT_EQ(result[4 * i + 1], 1);
    EXPECT_FLOAT_EQ(result[4 * i + 2], static_cast<float>(texels[4 * i]) / 255);
    EXPECT_EQ(result[4 * i + 3], 0);
  }
}

TEST_F(Texture, AKernelFindsTheSlicesLevelsPlanesAndFaces) {
  auto kernel = function_from(R"(
    using namespace metal;
    kernel void look(texture2d_array<float> array [[texture(0)]], texture3d<float> volume [[texture(1)]],
                     texturecube<float> cube [[texture(2)]], texture1d<float> line [[texture(3)]],
                     device float* out) {
      out[0] = array.read(uint2(1, 2), 3, 1).x;
      out[1] = volume.read(uint3(1, 2, 3)).x;
      out[2] = cube.read(uint2(3, 1), 4).x;
      out[3] = line.read(5u).x;
      out[4] = array.get_array_size() * 100 + array.get_num_mip_levels() * 10 + array.get_width(1);
      out[5] = volume.get_depth();
    })",
                              "look");
  auto* descriptor = describe(MTL::TextureType2DArray, MTL::PixelFormatR32Float, 8, 8, 1, 5);
  descriptor->setMipmapLevelCount(2);
  auto array = new_texture(descriptor);
  auto volume = new_texture(describe(MTL::TextureType3D, MTL::PixelFormatR32Float, 4, 4, 4));
  auto cube = new_texture(describe(MTL::TextureTypeCube, MTL::PixelFormatR32Float, 4, 4));
  auto line = new_texture(describe(MTL::TextureType1D, MTL::PixelFormatR32Float, 8));
  const float values[] = {1, 2, 3, 4};
  array->replaceRegion(MTL::Region::Make2D(1, 2, 1, 1), 1, 3, &values[0], 4, 0);
  volume->replaceRegion(MTL::Region::Make3D(1, 2, 3, 1, 1, 1), 0, &values[1], 4);
  cube->replaceRegion(MTL::Region::Make2D(3, 1, 1, 1), 0, 4, &values[2], 4, 0);
  line->replaceRegion(MTL::Region::Make1D(5, 1), 0, &values[3], 0);
  auto out = new_buffer(6 * sizeof(float));
  run_kernel(kernel, 1, [&](MTL::ComputeCommandEncoder* encoder) {
    const MTL::Texture* textures[] = {array.get(), volume.get(), cube.get(), line.get()};
    encoder->setTextures(textures, NS::Range(0, 4));
    encoder->setBuffer(out.get(), 0, 0);
  });
  const float expected[] = {1, 2, 3, 4, 524, 4};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(static_cast<float*>(out->contents())[i], expected[i]) << i;
}

TEST_F(Texture, AKernelReadsABufferThroughATexture) {
  auto function = function_from(R"(
    using namespace metal;
    kernel void sum(texture_buffer<uint> values [[texture(0)]], device uint* out) {
      uint sum = 0;
      for (uint i = 0; i < values.get_width(); ++i) sum += values.read(i).x;
      *out = sum;
    })",
                                "sum");
  auto buffer = new_buffer(256), out = new_buffer(4);
  for (uint32_t i = 0; i < 64; ++i) static_cast<uint32_t*>(buffer->contents())[i] = i;
  auto texture = NS::TransferPtr(
      buffer->newTexture(MTL::TextureDescriptor::textureBufferDescriptor(
                             MTL::PixelFormatR32Uint, 10, MTL::ResourceStorageModeShared, MTL::TextureUsageShaderRead),
                         16, 48));
  ASSERT_TRUE(texture);
  run_kernel(function, 1, [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setTexture(texture.get(), 0);
    encoder->setBuffer(out.get(), 0, 0);
  });
  EXPECT_EQ(*static_cast<uint32_t*>(out->contents()), 4u + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13);
}

}  // namespace
