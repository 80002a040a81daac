#include "image_program.hpp"

namespace metalloid::mps {
namespace {

using ImagesTest = ImageTest;
INSTANTIATE_MPS_TEST(ImagesTest);

TEST_P(ImagesTest, GivesBackWhatWasWrittenInBothLayouts) {
  for (const size_t channels : {1, 2, 3, 4, 5, 9}) {
    const auto image = new_image({5, 3, channels}, 2);
    std::vector<float> given(5 * 3 * channels), back(given.size());
    for (size_t i = 0; i < given.size(); ++i) given[i] = float(i);
    image->writeBytes(given.data(), MPS::DataLayoutFeatureChannelsxHeightxWidth, 1);
    image->readBytes(back.data(), MPS::DataLayoutFeatureChannelsxHeightxWidth, 1);
    EXPECT_EQ(given, back);
    image->readBytes(back.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 1);
    for (size_t y = 0; y < 3; ++y)
      for (size_t x = 0; x < 5; ++x)
        for (size_t c = 0; c < channels; ++c) ASSERT_EQ(back[(y * 5 + x) * channels + c], given[(c * 3 + y) * 5 + x]);
    image->readBytes(back.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
    EXPECT_EQ(back, std::vector<float>(given.size())) << "the other image is still empty";
  }
}

TEST_P(ImagesTest, ReadsAndWritesPartsOfAnImage) {
  const auto image = new_image({4, 4, 8});
  std::vector<float> part(2 * 2 * 4);
  for (size_t i = 0; i < part.size(); ++i) part[i] = float(i + 1);
  image->writeBytes(part.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 2 * 4 * sizeof(float),
                    MTL::Region(1, 2, 2, 2), {4, 4}, 0);
  const Tensor numbers = numbers_of(image.get());
  EXPECT_EQ(numbers.at(0, 1, 2, 4), 1);
  EXPECT_EQ(numbers.at(0, 2, 3, 7), 16);
  EXPECT_EQ(numbers.at(0, 1, 2, 3), 0);
  EXPECT_EQ(numbers.at(0, 0, 2, 4), 0);
}

TEST_P(ImagesTest, DescribesItselfAsOnAMac) {
  const auto image = new_image({5, 3, 9, 1, MPS::ImageFeatureChannelFormatFloat16});
  EXPECT_EQ(image->textureType(), MTL::TextureType2DArray);
  EXPECT_EQ(image->pixelFormat(), MTL::PixelFormatRGBA16Float);
  EXPECT_EQ(image->pixelSize(), 24u);
  EXPECT_EQ(image->precision(), 11u);
  EXPECT_EQ(image->numberOfImages(), 1u);
  EXPECT_EQ(new_image({5, 3, 2})->pixelFormat(), MTL::PixelFormatRG32Float);
  EXPECT_EQ(new_image({5, 3, 3})->textureType(), MTL::TextureType2D);
}

TEST_P(ImagesTest, RefusesDescriptionsThatMakeNoSense) {
  EXPECT_EQ(new_image({0, 3, 1}).get(), nullptr);
  EXPECT_EQ(new_image({1, 1, 1, 1, MPS::ImageFeatureChannelFormatNone}).get(), nullptr);
}

// A texture of the image, in a kernel of the program: slice s has channels 4s to 4s + 3.
TEST_P(ImagesTest, IsATextureForKernelsOfPrograms) {
  const char* source = R"(
    #include <metal_stdlib>
    using namespace metal;
    kernel void twice(texture2d_array<float, access::read_write> image [[texture(0)]],
                      uint3 p [[thread_position_in_grid]]) {
      image.write(2 * image.read(p.xy, p.z), p.xy, p.z);
    })";
  NS::Error* error = nullptr;
  const auto library =
      NS::TransferPtr(device->newLibrary(NS::String::string(source, NS::UTF8StringEncoding), nullptr, &error));
  ASSERT_TRUE(library) << error->localizedDescription()->utf8String();
  const auto function = NS::TransferPtr(library->newFunction(NS::String::string("twice", NS::UTF8StringEncoding)));
  const auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  for (const auto format : {MPS::ImageFeatureChannelFormatFloat32, MPS::ImageFeatureChannelFormatFloat16}) {
    Tensor numbers = random_tensor({5, 3, 12, 1, format});
    const Images images = images_with(numbers);
    MTL::Texture* texture = images[0]->texture();
    ASSERT_TRUE(texture);
    EXPECT_EQ(texture->arrayLength(), 3u);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
                encoder->setComputePipelineState(pipeline.get());
                encoder->setTexture(texture, 0);
                encoder->dispatchThreads(MTL::Size(5, 3, 3), MTL::Size(1, 1, 1));
                encoder->endEncoding();
              }),
              "");
    for (double& number : numbers.numbers) number *= 2;
    expect_near(numbers_of(images), numbers, 0, "doubled");
  }
  EXPECT_EQ(new_image({2, 2, 8}, 3)->texture(), nullptr) << "no texture has such strides";
}

TEST_P(ImagesTest, OfABatchLieSideBySide) {
  const Images images = {new_image({7, 7, 8}), new_image({7, 7, 8}), new_image({7, 7, 8})};
  const NS::Array* batch = batch_of(images);
  EXPECT_EQ(MPS::ImageBatchResourceSize(batch), 3 * 7 * 7 * 8 * sizeof(float));
  NS::UInteger seen = 0;
  MPS::ImageBatchIterate(batch, [&](MPS::Image*, NS::UInteger) {
    ++seen;
    return NS::IntegerMin;
  });
  EXPECT_EQ(seen, 3u);
}

TEST_P(ImagesTest, ShowsPartsOfItselfAsImages) {
  const auto image = new_image({3, 2, 8}, 2);
  Tensor second = random_tensor({3, 2, 8});
  write(image.get(), second, 0, 1);
  NS::Array* parts = image->batchRepresentation();
  ASSERT_EQ(parts->count(), 2u);
  expect_near(numbers_of(parts->object<MPS::Image>(1)), second, 0, "second image");
  const Tensor channels = numbers_of(parts->object<MPS::Image>(1)->subImage(NS::Range::Make(4, 3)));
  for (size_t c = 0; c < 3; ++c) EXPECT_EQ(channels.at(0, 2, 1, c), second.at(0, 2, 1, 4 + c));
}

TEST_P(ImagesTest, RefuseLayoutsThatThereAreNot) {
  auto image = NS::TransferPtr(MPS::Image::alloc()->init(
      device.get(), MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, 4, 4, 3)));
  float number = 7;  // which all the rest would be written behind
  image->readBytes(&number, MPS::DataLayout(9), 0);
  EXPECT_EQ(number, 7);
}

TEST_P(ImagesTest, TemporaryOnesCountTheirReads) {
  run([&](MTL::CommandBuffer* commands) {
    MPS::TemporaryImage* image = MPS::TemporaryImage::temporaryImage(
        commands, MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, 2, 2, 4));
    EXPECT_EQ(image->readCount(), 1u);
    image->setReadCount(3);
    EXPECT_EQ(MPS::ImageBatchIncrementReadCount(NS::Array::array(image), -1), 1u);
    EXPECT_EQ(image->readCount(), 2u);
  });
}

TEST_P(ImagesTest, StatesMakeTheirResourcesWhenTheyAreAskedFor) {
  MPS::StateResourceList* list = MPS::StateResourceList::resourceList();
  list->appendBuffer(64);
  const auto state = NS::TransferPtr(MPS::State::alloc()->init(device.get(), list));
  EXPECT_EQ(state->resourceCount(), 1u);
  EXPECT_EQ(state->resource(0, false), nullptr);
  EXPECT_NE(state->resource(0, true), nullptr);
  EXPECT_EQ(state->bufferSize(0), 64u);
  EXPECT_EQ(state->resourceType(0), MPS::StateResourceTypeBuffer);
  EXPECT_FALSE(state->isTemporary());
}

}  // namespace
}  // namespace metalloid::mps
