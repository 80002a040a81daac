#include <cmath>
#include <numeric>

#include "command_program.hpp"

namespace {

class Blit : public CommandProgram {
 protected:
  template <class Encode>
  void blit(Encode encode) {
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
    encode(encoder);
    encoder->endEncoding();
    finish(commands);
  }

  template <class Encode>
  std::string failure_of(Encode encode) {
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
    encode(encoder);
    encoder->endEncoding();
    return failure(commands);
  }

  static std::vector<uint32_t> numbers(size_t count) {
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 1);
    return values;
  }

  NS::SharedPtr<MTL::Texture> texture(MTL::PixelFormat format, NS::UInteger width, NS::UInteger height,
                                      MTL::TextureType type = MTL::TextureType2D, NS::UInteger depth = 1,
                                      NS::UInteger slices = 1, NS::UInteger levels = 1,
                                      MTL::StorageMode storage = MTL::StorageModePrivate) {
    const auto descriptor = NS::TransferPtr(MTL::TextureDescriptor::alloc()->init());
    descriptor->setTextureType(type);
    descriptor->setPixelFormat(format);
    descriptor->setWidth(width);
    descriptor->setHeight(height);
    descriptor->setDepth(depth);
    descriptor->setArrayLength(slices);
    descriptor->setMipmapLevelCount(levels);
    descriptor->setStorageMode(storage);
    descriptor->setUsage(MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
    auto made = NS::TransferPtr(device->newTexture(descriptor.get()));
    EXPECT_TRUE(made);
    return made;
  }

  // All texels of one level and slice, through a buffer.
  template <class Texel>
  std::vector<Texel> texels(const NS::SharedPtr<MTL::Texture>& image, NS::UInteger slice, NS::UInteger level) {
    const NS::UInteger width = std::max<NS::UInteger>(1, image->width() >> level);
    const NS::UInteger height = std::max<NS::UInteger>(1, image->height() >> level);
    const NS::UInteger depth = std::max<NS::UInteger>(1, image->depth() >> level);
    const NS::UInteger row = width * sizeof(Texel);
    const auto copy = NS::TransferPtr(device->newBuffer(row * height * depth, MTL::ResourceStorageModeShared));
    blit([&](MTL::BlitCommandEncoder* encoder) {
      encoder->copyFromTexture(image.get(), slice, level, MTL::Origin(0, 0, 0), MTL::Size(width, height, depth),
                               copy.get(), 0, row, row * height);
    });
    const auto* first = static_cast<const Texel*>(copy->contents());
    return {first, first + width * height * depth};
  }

  template <class Texel>
  void fill(const NS::SharedPtr<MTL::Texture>& image, NS::UInteger slice, const std::vector<Texel>& values) {
    const NS::UInteger row = image->width() * sizeof(Texel);
    const auto data = NS::TransferPtr(
        device->newBuffer(values.data(), values.size() * sizeof(Texel), MTL::ResourceStorageModeShared));
    blit([&](MTL::BlitCommandEncoder* encoder) {
      encoder->copyFromBuffer(data.get(), 0, row, row * image->height(),
                              MTL::Size(image->width(), image->height(), image->depth()), image.get(), slice, 0,
                              MTL::Origin(0, 0, 0));
    });
  }
};

TEST_F(Blit, CopiesPartsOfBuffers) {
  const auto source = buffer({1, 2, 3, 4, 5}), destination = buffer({9, 9, 9, 9});
  blit([&](MTL::BlitCommandEncoder* encoder) {
    encoder->copyFromBuffer(source.get(), 4, destination.get(), 8, 8);
    encoder->copyFromBuffer(source.get(), 0, destination.get(), 0, 0);
  });
  EXPECT_EQ(values(destination), (std::vector<uint32_t>{9, 9, 2, 3}));
}

TEST_F(Blit, FillsPartsOfBuffers) {
  const auto data = buffer({9, 9, 9});
  blit([&](MTL::BlitCommandEncoder* encoder) { encoder->fillBuffer(data.get(), NS::Range(4, 4), 0xAB); });
  EXPECT_EQ(values(data), (std::vector<uint32_t>{9, 0xABABABAB, 9}));
}

TEST_F(Blit, CarriesAPrivateBufferThere_AndBack) {
  const auto source = buffer(numbers(1000)), result = buffer(std::vector<uint32_t>(1000));
  const auto hidden = NS::TransferPtr(device->newBuffer(4000, MTL::ResourceStorageModePrivate));
  blit([&](MTL::BlitCommandEncoder* encoder) {
    encoder->copyFromBuffer(source.get(), 0, hidden.get(), 0, 4000);
    encoder->copyFromBuffer(hidden.get(), 0, result.get(), 0, 4000);
  });
  EXPECT_EQ(values(result), numbers(1000));
}

TEST_F(Blit, CopiesARegionWithTheBuffersOwnStrides) {
  const auto image = texture(MTL::PixelFormatR32Uint, 5, 4);
  fill(image, 0, std::vector<uint32_t>(20, 0));
  const auto source = buffer(numbers(12));  // rows of 4 words, of which 2 are copied
  blit([&](MTL::BlitCommandEncoder* encoder) {
    encoder->copyFromBuffer(source.get(), 4, 16, 0, MTL::Size(2, 3, 1), image.get(), 0, 0, MTL::Origin(3, 1, 0));
  });
  EXPECT_EQ(texels<uint32_t>(image, 0, 0),
            (std::vector<uint32_t>{0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 6, 7, 0, 0, 0, 10, 11}));
}

TEST_F(Blit, CopiesVolumesAndSlices) {
  const auto volume = texture(MTL::PixelFormatR32Uint, 3, 2, MTL::TextureType3D, 4);
  fill(volume, 0, numbers(24));
  EXPECT_EQ(texels<uint32_t>(volume, 0, 0), numbers(24));
  const auto slices = texture(MTL::PixelFormatR32Uint, 2, 2, MTL::TextureType2DArray, 1, 3);
  for (uint32_t slice = 0; slice < 3; ++slice) fill(slices, slice, std::vector<uint32_t>(4, slice + 1));
  const auto other = texture(MTL::PixelFormatR32Uint, 2, 2, MTL::TextureType2DArray, 1, 3);
  blit([&](MTL::BlitCommandEncoder* encoder) {
    encoder->copyFromTexture(slices.get(), 1, 0, other.get(), 0, 0, 2, 1);
    encoder->copyFromTexture(slices.get(), 0, 0, MTL::Origin(0, 0, 0), MTL::Size(2, 1, 1), other.get(), 2, 0,
                             MTL::Origin(0, 1, 0));
    encoder->copyFromTexture(slices.get(), 0, 0, MTL::Origin(0, 0, 0), MTL::Size(2, 1, 1), other.get(), 2, 0,
                             MTL::Origin(0, 0, 0));
  });
  EXPECT_EQ(texels<uint32_t>(other, 0, 0), std::vector<uint32_t>(4, 2));
  EXPECT_EQ(texels<uint32_t>(other, 1, 0), std::vector<uint32_t>(4, 3));
  EXPECT_EQ(texels<uint32_t>(other, 2, 0), std::vector<uint32_t>(4, 1));
}

TEST_F(Blit, CopiesWholeTexturesLevelByLevel) {
  const auto source = texture(MTL::PixelFormatR32Float, 4, 4, MTL::TextureType2D, 1, 1, 3);
  fill(source, 0, std::vector<float>(16, 2));
  const auto same = texture(MTL::PixelFormatR32Float, 4, 4, MTL::TextureType2D, 1, 1, 3);
  const auto half = texture(MTL::PixelFormatR32Float, 2, 2, MTL::TextureType2D, 1, 1, 2);
  blit([&](MTL::BlitCommandEncoder* encoder) {
    encoder->generateMipmaps(source.get());
    encoder->copyFromTexture(source.get(), same.get());
    encoder->copyFromTexture(source.get(), half.get());
  });
  EXPECT_EQ(texels<float>(same, 0, 0), std::vector<float>(16, 2));
  EXPECT_EQ(texels<float>(same, 0, 2), std::vector<float>(1, 2));
  EXPECT_EQ(texels<float>(half, 0, 0), std::vector<float>(4, 2));
}

TEST_F(Blit, MipmapsAreMeansOfWhatTheyCover) {
  const auto image = texture(MTL::PixelFormatR32Float, 4, 2, MTL::TextureType2D, 1, 1, 3);
  fill<float>(image, 0, {1, 3, 5, 7, 5, 7, 9, 11});
  blit([&](MTL::BlitCommandEncoder* encoder) { encoder->generateMipmaps(image.get()); });
  EXPECT_EQ(texels<float>(image, 0, 1), (std::vector<float>{4, 8}));
  EXPECT_EQ(texels<float>(image, 0, 2), (std::vector<float>{6}));
}

TEST_F(Blit, MipmapsOfOddSizesWeighTexelsByArea) {
  const auto image = texture(MTL::PixelFormatR32Float, 5, 1, MTL::TextureType2D, 1, 1, 3);
  const std::vector<float> row = {1, 10, 100, 1000, 10000};
  fill(image, 0, row);
  blit([&](MTL::BlitCommandEncoder* encoder) { encoder->generateMipmaps(image.get()); });
  const std::vector<float> half = texels<float>(image, 0, 1);
  EXPECT_NEAR(half[0], (1 + 10 + 100 * 0.5) / 2.5, 1e-4);
  EXPECT_NEAR(half[1], (100 * 0.5 + 1000 + 10000) / 2.5, 1e-2);
  EXPECT_NEAR(texels<float>(image, 0, 2)[0], 11111 / 5.0, 1e-2);
}

TEST_F(Blit, MipmapsOfBytesCubesAndVolumes) {
  using Bytes = std::array<uint8_t, 4>;
  const auto bytes = texture(MTL::PixelFormatRGBA8Unorm, 2, 2, MTL::TextureType2D, 1, 1, 2);
  fill<Bytes>(bytes, 0, {{0, 100, 8, 255}, {10, 100, 8, 255}, {20, 100, 8, 255}, {30, 100, 8, 255}});
  const auto cube = texture(MTL::PixelFormatR32Float, 2, 2, MTL::TextureTypeCube, 1, 1, 2);
  for (unsigned face = 0; face < 6; ++face) fill(cube, face, std::vector<float>(4, static_cast<float>(face)));
  const auto volume = texture(MTL::PixelFormatR32Float, 2, 2, MTL::TextureType3D, 2, 1, 2);
  fill<float>(volume, 0, {1, 2, 3, 4, 5, 6, 7, 8});
  blit([&](MTL::BlitCommandEncoder* encoder) {
    encoder->generateMipmaps(bytes.get());
    encoder->generateMipmaps(cube.get());
    encoder->generateMipmaps(volume.get());
  });
  EXPECT_EQ(texels<Bytes>(bytes, 0, 1), (std::vector<Bytes>{{15, 100, 8, 255}}));
  for (unsigned face = 0; face < 6; ++face)
    EXPECT_EQ(texels<float>(cube, face, 1), std::vector<float>{static_cast<float>(face)});
  EXPECT_EQ(texels<float>(volume, 0, 1), std::vector<float>{4.5});
}

TEST_F(Blit, SynchronisingAndOptimisingChangeNothing) {
  const auto data = NS::TransferPtr(device->newBuffer(numbers(4).data(), 16, MTL::ResourceStorageModeManaged));
  const auto image = texture(MTL::PixelFormatR32Uint, 2, 2, MTL::TextureType2D, 1, 1, 1, MTL::StorageModeManaged);
  fill(image, 0, numbers(4));
  blit([&](MTL::BlitCommandEncoder* encoder) {
    encoder->synchronizeResource(data.get());
    encoder->synchronizeTexture(image.get(), 0, 0);
    encoder->optimizeContentsForGPUAccess(image.get());
    encoder->optimizeContentsForCPUAccess(image.get(), 0, 0);
  });
  EXPECT_EQ(values(data), numbers(4));
  EXPECT_EQ(texels<uint32_t>(image, 0, 0), numbers(4));
}

TEST_F(Blit, NothingReachesBeyondTheEnd) {
  const auto small = buffer({1, 2}), large = buffer(std::vector<uint32_t>(100));
  const auto image = texture(MTL::PixelFormatR32Uint, 4, 4);
  EXPECT_EQ(failure_of([&](auto* encoder) { encoder->copyFromBuffer(large.get(), 0, small.get(), 4, 8); }),
            "MTL::BlitCommandEncoder::copyFromBuffer: 8 bytes at offset 4 reach beyond the end of the buffer, which "
            "has 8 bytes");
  EXPECT_EQ(failure_of([&](auto* encoder) { encoder->fillBuffer(small.get(), NS::Range(UINT64_MAX, 2), 0); }),
            "MTL::BlitCommandEncoder::fillBuffer: 2 bytes at offset 18446744073709551615 reach beyond the end of the "
            "buffer, which has 8 bytes");
  EXPECT_NE(failure_of([&](auto* encoder) {
              encoder->copyFromBuffer(small.get(), 0, 16, 64, MTL::Size(4, 4, 1), image.get(), 0, 0,
                                      MTL::Origin(0, 0, 0));
            }).find("64 bytes at offset 0 reach beyond the end"),
            std::string::npos);
  EXPECT_NE(failure_of([&](auto* encoder) {
              encoder->copyFromBuffer(large.get(), 0, 16, 64, MTL::Size(4, 4, 1), image.get(), 0, 0,
                                      MTL::Origin(1, 0, 0));
            }).find("MTL::BlitCommandEncoder::copyFromBuffer: "),
            std::string::npos);
  EXPECT_NE(failure_of([&](auto* encoder) {
              encoder->copyFromBuffer(large.get(), 0, UINT64_MAX / 2, UINT64_MAX, MTL::Size(4, 4, 1), image.get(), 0, 0,
                                      MTL::Origin(0, 0, 0));
            }).find("reach beyond the end"),
            std::string::npos);
  EXPECT_EQ(failure_of([&](auto* encoder) { encoder->fillBuffer(nullptr, NS::Range(0, 1), 0); }),
            "MTL::BlitCommandEncoder::fillBuffer: the buffer is null");
}

TEST_F(Blit, MipmapsNeedNoRetainedReferences) {
  const auto image = texture(MTL::PixelFormatR32Float, 2, 2, MTL::TextureType2D, 1, 1, 2);
  fill(image, 0, std::vector<float>(4, 3));
  MTL::CommandBuffer* commands = queue->commandBufferWithUnretainedReferences();
  MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
  encoder->generateMipmaps(image.get());
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(texels<float>(image, 0, 1), std::vector<float>{3});
}

TEST_F(Blit, MipmapsOfIntegersAreRefused) {
  const auto image = texture(MTL::PixelFormatR32Uint, 4, 4, MTL::TextureType2D, 1, 1, 3);
  EXPECT_EQ(failure_of([&](auto* encoder) { encoder->generateMipmaps(image.get()); }),
            "MTL::BlitCommandEncoder::generateMipmaps: texels of this pixel format cannot be averaged");
}

}  // namespace
