#include <numeric>

#include "mps_program.hpp"

namespace metalloid::mps {
namespace {

class NDArrayTest : public MpsTest {
 protected:
  // 0, 1, 2, … in the order of the lengths, dimension 0 first.
  NS::SharedPtr<MPS::NDArray> counting(std::initializer_list<NS::UInteger> lengths,
                                       MPS::DataType type = MPS::DataTypeFloat32) {
    auto array =
        NS::TransferPtr(MPS::NDArray::alloc()->init(device.get(), MPS::NDArrayDescriptor::descriptor(type, lengths)));
    const size_t count = std::accumulate(lengths.begin(), lengths.end(), size_t{1}, std::multiplies<>());
    std::vector<uint64_t> memory(count);
    for (size_t i = 0; i < count; ++i) set_number(memory.data(), i, type, double(i));
    array->writeBytes(memory.data(), nullptr);
    return array;
  }
  std::vector<double> numbers_of(MPS::NDArray* array) {
    size_t count = 1;
    for (size_t i = 0; i < array->numberOfDimensions(); ++i) count *= array->lengthOfDimension(i);
    std::vector<uint64_t> memory(count);
    array->readBytes(memory.data(), nullptr);
    std::vector<double> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(number_at(memory.data(), i, array->dataType()));
    return numbers;
  }
};
INSTANTIATE_MPS_TEST(NDArrayTest);

TEST_P(NDArrayTest, HasTheShapeOfItsDescriptor) {
  const NS::Object* shape[] = {NS::Number::number(4), NS::Number::number(3), NS::Number::number(5)};
  auto* descriptor = MPS::NDArrayDescriptor::descriptor(MPS::DataTypeFloat16, NS::Array::array(shape, 3));
  EXPECT_EQ(descriptor->lengthOfDimension(0), 5u);
  EXPECT_EQ(descriptor->lengthOfDimension(2), 4u);
  EXPECT_EQ(descriptor->lengthOfDimension(9), 1u);
  EXPECT_EQ(descriptor->getShape()->object<NS::Number>(1)->intValue(), 3);
  const auto array = NS::TransferPtr(MPS::NDArray::alloc()->init(device.get(), descriptor));
  EXPECT_EQ(array->numberOfDimensions(), 3u);
  EXPECT_EQ(array->dataTypeSize(), 2u);
  EXPECT_EQ(array->resourceSize(), 11u * 16 + 5 * 2) << "rows begin at multiples of 16 bytes";
  EXPECT_EQ(array->userBuffer(), nullptr);
  descriptor->setPreferPackedRows(true);
  const auto packed = NS::TransferPtr(MPS::NDArray::alloc()->init(device.get(), descriptor));
  EXPECT_EQ(packed->resourceSize(), 60u * 2);
}

TEST_P(NDArrayTest, HoldsAScalar) {
  const auto array = NS::TransferPtr(MPS::NDArray::alloc()->init(device.get(), 2.5));
  EXPECT_EQ(array->numberOfDimensions(), 1u);
  EXPECT_EQ(numbers_of(array.get()), std::vector<double>{2.5});
}

TEST_P(NDArrayTest, ReadsAndWritesBytesWithStrides) {
  const auto array = counting({3, 2});
  // Each row backwards, rows ten numbers apart.
  std::vector<float> memory(20, -1);
  const NS::Integer strides[] = {-4, 40};
  array->readBytes(memory.data() + 2, strides);
  EXPECT_EQ(memory[0], 2);
  EXPECT_EQ(memory[2], 0);
  EXPECT_EQ(memory[10], 5);
  EXPECT_EQ(memory[3], -1);
  array->writeBytes(memory.data() + 2, strides);
  EXPECT_EQ(numbers_of(array.get()), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST_P(NDArrayTest, StandsOnTheUsersBuffer) {
  const auto buffer = NS::TransferPtr(device->newBuffer(256, MTL::ResourceStorageModeShared));
  auto* descriptor = MPS::NDArrayDescriptor::descriptor(MPS::DataTypeFloat32, {3, 2});
  const auto array = NS::TransferPtr(MPS::NDArray::alloc()->init(buffer.get(), 16, descriptor));
  EXPECT_EQ(array->userBuffer(), buffer.get());
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  array->writeBytes(numbers, nullptr);
  const auto* there = static_cast<const float*>(buffer->contents());
  EXPECT_EQ(there[4], 1);
  EXPECT_EQ(there[8], 4) << "rows begin at multiples of 16 bytes";
}

TEST_P(NDArrayTest, ShowsSlicesAndTranspositionsWithoutACopy) {
  const auto array = counting({4, 3, 2});
  auto* descriptor = array->descriptor();
  descriptor->sliceDimension(0, {1, 2});
  descriptor->sliceDimension(2, {1, 1});
  descriptor->transposeDimension(0, 1);
  EXPECT_EQ(descriptor->dimensionOrder()[0], 1);
  MPS::NDArray* view = array->arrayView(descriptor);
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->parent(), array.get());
  EXPECT_EQ(view->lengthOfDimension(0), 3u);
  EXPECT_EQ(view->lengthOfDimension(1), 2u);
  EXPECT_EQ(numbers_of(view), (std::vector<double>{13, 17, 21, 14, 18, 22}));
  // A view of the view: its rows the other way round.
  auto* again = view->descriptor();
  again->transposeDimension(0, 1);
  again->sliceDimension(0, {1, 1});
  MPS::NDArray* second = view->arrayView(again);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(numbers_of(second), (std::vector<double>{14, 18, 22}));
  const float changed[] = {-1, -2, -3};
  second->writeBytes(changed, nullptr);
  EXPECT_EQ(numbers_of(array.get())[18], -2);
}

TEST_P(NDArrayTest, ReshapesWithoutACopyWhereThereAreNoGaps) {
  const NS::UInteger lengths[] = {2, 6};
  const auto dense = counting({4, 3});
  auto* descriptor = dense->descriptor();
  descriptor->reshape(2, lengths);
  EXPECT_NE(dense->arrayView(descriptor), nullptr);
  const auto gaps = counting({3, 4});
  auto* other = gaps->descriptor();
  other->reshape(2, lengths);
  EXPECT_EQ(gaps->arrayView(other), nullptr);
  MPS::NDArray* copy = nullptr;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              copy = gaps->arrayView(commands, other, MPS::AliasingStrategyDefault)->retain();
            }),
            "");
  const auto kept = NS::TransferPtr(copy);
  EXPECT_EQ(copy->lengthOfDimension(0), 2u);
  EXPECT_EQ(copy->parent(), nullptr);
  EXPECT_EQ(numbers_of(copy), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_P(NDArrayTest, CopiesAViewWhereItIsAskedTo) {
  const auto array = counting({5, 3}, MPS::DataTypeInt32);
  auto* descriptor = array->descriptor();
  descriptor->transposeDimension(0, 1);
  descriptor->setDataType(MPS::DataTypeFloat16);
  MPS::NDArray* copy = nullptr;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              EXPECT_EQ(array->arrayView(commands, descriptor, MPS::AliasingStrategyShallAlias), nullptr);
              copy = array->arrayView(commands, descriptor, MPS::AliasingStrategyShallNotAlias)->retain();
            }),
            "");
  const auto kept = NS::TransferPtr(copy);
  EXPECT_EQ(copy->dataType(), MPS::DataTypeFloat16);
  EXPECT_EQ(numbers_of(copy), (std::vector<double>{0, 5, 10, 1, 6, 11, 2, 7, 12, 3, 8, 13, 4, 9, 14}));
}

TEST_P(NDArrayTest, IsExportedAndImportedInTheCommandBufferInAnyType) {
  const MPS::DataType types[] = {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16,
                                 MPS::DataTypeInt8,    MPS::DataTypeUInt8,   MPS::DataTypeInt16,
                                 MPS::DataTypeInt32,   MPS::DataTypeUInt32};
  for (const MPS::DataType own : types)
    for (const MPS::DataType other : types) {
      const auto array = counting({3, 5, 2, 4}, own);
      const size_t number = (other & 0xffff) / 8;
      const auto buffer = NS::TransferPtr(device->newBuffer(8192, MTL::ResourceStorageModeShared));
      auto* descriptor = array->descriptor();
      descriptor->transposeDimension(1, 3);
      MPS::NDArray* view = array->arrayView(descriptor);
      const NS::Integer strides[] = {NS::Integer(4 * number), NS::Integer(20 * number), NS::Integer(50 * number)};
      const auto back = counting({3, 4, 2, 5}, own);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  view->exportData(commands, buffer.get(), other, 8 * number, strides);
                  back->importData(commands, buffer.get(), other, 8 * number, strides);
                }),
                "");
      for (size_t d = 0; d < 5; ++d)
        for (size_t c = 0; c < 2; ++c)
          for (size_t b = 0; b < 4; ++b)
            for (size_t a = 0; a < 3; ++a)
              ASSERT_EQ(number_at(buffer->contents(), 8 + a + 4 * b + 20 * c + 50 * d, other),
                        double(a + 3 * (d + 5 * (c + 2 * b))))
                  << "from " << own << " to " << other;
      ASSERT_EQ(numbers_of(back.get()), numbers_of(view));
    }
}

TEST_P(NDArrayTest, GivesTemporaryMemoryBackAfterTheLastRead) {
  const auto buffer = NS::TransferPtr(device->newBuffer(64, MTL::ResourceStorageModeShared));
  const auto source = counting({6});
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::TemporaryNDArray* temporary =
                  MPS::TemporaryNDArray::temporaryNDArray(commands, source->descriptor());
              EXPECT_EQ(temporary->readCount(), 1u);
              temporary->importData(commands, buffer.get(), MPS::DataTypeFloat32, 0, nullptr);
              EXPECT_EQ(temporary->readCount(), 1u);
              temporary->exportData(commands, buffer.get(), MPS::DataTypeFloat32, 32, nullptr);
              EXPECT_EQ(temporary->readCount(), 0u);
            }),
            "");
}

TEST_P(NDArrayTest, RefusesWhatMakesNoArrayAndSaysWhy) {
  const NS::UInteger none[] = {3, 0};
  EXPECT_EQ(MPS::NDArrayDescriptor::descriptor(MPS::DataTypeFloat32, 2, none), nullptr);
  EXPECT_EQ(MPS::NDArrayDescriptor::descriptor(MPS::DataType(77), {1}), nullptr);
  auto* descriptor = MPS::NDArrayDescriptor::descriptor(MPS::DataTypeFloat32, {8});
  EXPECT_EQ(MPS::NDArray::alloc()->init(nullptr, descriptor), nullptr);
  const auto buffer = NS::TransferPtr(device->newBuffer(32, MTL::ResourceStorageModeShared));
  EXPECT_EQ(MPS::NDArray::alloc()->init(buffer.get(), 4, descriptor), nullptr);
  auto* endless = MPS::NDArrayDescriptor::descriptor(MPS::DataTypeFloat32, {size_t{1} << 32, size_t{1} << 32});
  EXPECT_EQ(MPS::NDArray::alloc()->init(buffer.get(), 0, endless), nullptr) << "2^64 numbers are not 0";
  EXPECT_EQ(MPS::NDArray::alloc()->init(device.get(), endless), nullptr);
  descriptor->sliceDimension(0, {4, 5});
  EXPECT_EQ(descriptor->sliceRange(0).length, 8u) << "a slice beyond the end changes nothing";
  const auto array = counting({8});
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              array->exportData(commands, buffer.get(), MPS::DataTypeFloat32, 4, nullptr);
            }).find("toBuffer has 32 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps
