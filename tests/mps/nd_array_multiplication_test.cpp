#include "mps_program.hpp"

namespace metalloid::mps {
namespace {

class NDArrayMultiplicationTest : public MpsTest {
 protected:
  using Lengths = std::vector<NS::UInteger>;

  // Random numbers, and the array whose dimensions `first` and `second` are transposed, as a view.
  struct Array {
    NS::SharedPtr<MPS::NDArray> stored;
    MPS::NDArray* view = nullptr;
    std::vector<double> numbers;
    Lengths lengths;

    double at(size_t x, size_t y, size_t z, size_t w) const {
      const size_t place[] = {x, y, z, w};
      size_t index = 0, step = 1;
      for (size_t i = 0; i < lengths.size(); ++i) {
        index += (lengths[i] == 1 ? 0 : place[i]) * step;
        step *= lengths[i];
      }
      return numbers[index];
    }
  };

  Array random_array(MPS::DataType type, Lengths lengths, bool transposed, size_t first = 0, size_t second = 1) {
    Array array;
    array.lengths = lengths;
    if (transposed) std::swap(lengths[first], lengths[second]);
    array.stored = NS::TransferPtr(MPS::NDArray::alloc()->init(
        device.get(), MPS::NDArrayDescriptor::descriptor(type, lengths.size(), lengths.data())));
    size_t count = 1;
    for (const size_t length : lengths) count *= length;
    std::vector<uint32_t> memory(count);
    std::uniform_real_distribution<double> distribution(-1, 1);
    for (size_t i = 0; i < count; ++i) set_number(memory.data(), i, type, distribution(random));
    array.stored->writeBytes(memory.data(), nullptr);
    auto* descriptor = array.stored->descriptor();
    if (transposed) descriptor->transposeDimension(first, second);
    array.view = array.stored->arrayView(descriptor);
    array.numbers = read(array.view);
    return array;
  }

  std::vector<double> read(MPS::NDArray* array) {
    size_t count = 1;
    for (size_t i = 0; i < array->numberOfDimensions(); ++i) count *= array->lengthOfDimension(i);
    std::vector<uint32_t> memory(count);
    array->readBytes(memory.data(), nullptr);
    std::vector<double> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(number_at(memory.data(), i, array->dataType()));
    return numbers;
  }

  NS::Array* array_of(std::vector<const NS::Object*> objects) {
    return NS::Array::array(objects.data(), objects.size());
  }

  void check(const Array& a, const Array& b, const Array* c, Array d, double alpha, double beta) {
    const auto kernel = NS::TransferPtr(MPS::NDArrayMatrixMultiplication::alloc()->init(device.get(), c ? 3 : 2));
    kernel->setAlpha(alpha);
    kernel->setBeta(beta);
    NS::Array* sources = c ? array_of({a.view, b.view, c->view}) : array_of({a.view, b.view});
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources, d.view); }), "");
    d.numbers = read(d.view);
    Lengths lengths = d.lengths;
    lengths.resize(4, 1);
    for (size_t w = 0; w < lengths[3]; ++w)
      for (size_t z = 0; z < lengths[2]; ++z)
        for (size_t y = 0; y < lengths[1]; ++y)
          for (size_t x = 0; x < lengths[0]; ++x) {
            double sum = 0, sizes = 0;
            for (size_t i = 0; i < a.lengths[0]; ++i) {
              sum += a.at(i, y, z, w) * b.at(x, i, z, w);
              sizes += std::abs(a.at(i, y, z, w) * b.at(x, i, z, w));
            }
            const double expected = alpha * sum + (c ? beta * c->at(x, y, z, w) : 0);
            // A few roundings of float sums, and those of the result and of the addend in the result's type.
            const double tolerance =
                2 * rounding_of(d.view->dataType()) * (std::abs(expected) + std::abs(beta)) + 0x1p-20 * sizes;
            ASSERT_NEAR(d.at(x, y, z, w), expected, tolerance) << x << ", " << y << ", " << z << ", " << w;
          }
  }
};
INSTANTIATE_MPS_TEST(NDArrayMultiplicationTest);

TEST_P(NDArrayMultiplicationTest, MultipliesMatricesThatLieInAnyWay) {
  for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16})
    for (const bool left : {false, true})
      for (const bool right : {false, true})
        for (const bool result : {false, true})
          check(random_array(type, {7, 9}, left), random_array(type, {19, 7}, right), nullptr,
                random_array(type, {19, 9}, result), 0.5, 1);
}

TEST_P(NDArrayMultiplicationTest, MultipliesEachMatrixAndBroadcastsThoseOfLengthOne) {
  const auto type = MPS::DataTypeFloat32;
  for (const auto& [left, right] : {std::pair<Lengths, Lengths>{{5, 6, 3, 2}, {8, 5, 3, 2}},
                                    {{5, 6, 1, 2}, {8, 5, 3, 1}},
                                    {{5, 6}, {8, 5, 3, 2}},
                                    {{5, 6, 3, 1}, {8, 5, 1, 2}}})
    check(random_array(type, left, false), random_array(type, right, true), nullptr,
          random_array(type, {8, 6, 3, left.size() == 2 ? NS::UInteger{2} : std::max(left[3], right[3])}, false), 1, 0);
  // Rows that are far apart: dimensions 1 and 2 change places.
  check(random_array(type, {5, 6, 3}, true, 1, 2), random_array(type, {8, 5, 3}, true, 0, 2), nullptr,
        random_array(type, {8, 6, 3}, true, 0, 2), 1, 0);
}

TEST_P(NDArrayMultiplicationTest, AddsTheThirdSource) {
  for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16}) {
    const Array a = random_array(type, {5, 6, 3}, false), b = random_array(type, {8, 5, 3}, false);
    const Array full = random_array(type, {8, 6, 3}, true), row = random_array(type, {8, 1, 1}, false);
    check(a, b, &full, random_array(type, {8, 6, 3}, false), 2, -0.5);
    check(a, b, &row, random_array(type, {8, 6, 3}, true), 1, 1);
  }
}

TEST_P(NDArrayMultiplicationTest, MakesATemporaryResult) {
  const Array a = random_array(MPS::DataTypeFloat32, {3, 4}, false),
              b = random_array(MPS::DataTypeFloat32, {5, 3}, false);
  const auto kernel = NS::TransferPtr(MPS::NDArrayMatrixMultiplication::alloc()->init(device.get(), 2));
  NS::Array* sources = array_of({a.view, b.view});
  EXPECT_EQ(kernel->destinationArrayDescriptor(sources)->lengthOfDimension(0), 5u);
  EXPECT_EQ(kernel->destinationArrayDescriptor(sources)->lengthOfDimension(1), 4u);
  const auto buffer = NS::TransferPtr(device->newBuffer(80, MTL::ResourceStorageModeShared));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::NDArray* result = kernel->encode(commands, sources);
              ASSERT_NE(result, nullptr);
              result->exportData(commands, buffer.get(), MPS::DataTypeFloat32, 0, nullptr);
            }),
            "");
  const double expected =
      a.at(0, 1, 0, 0) * b.at(2, 0, 0, 0) + a.at(1, 1, 0, 0) * b.at(2, 1, 0, 0) + a.at(2, 1, 0, 0) * b.at(2, 2, 0, 0);
  EXPECT_NEAR(static_cast<const float*>(buffer->contents())[7], expected, 1e-6);
}

TEST_P(NDArrayMultiplicationTest, RefusesArraysThatDoNotFitAndNamesThem) {
  const auto type = MPS::DataTypeFloat32;
  const Array a = random_array(type, {3, 4, 2}, false), b = random_array(type, {5, 2}, false),
              c = random_array(type, {5, 3, 3}, false), d = random_array(type, {5, 3}, false);
  EXPECT_EQ(MPS::NDArrayMatrixMultiplication::alloc()->init(device.get(), 4), nullptr);
  const auto kernel = NS::TransferPtr(MPS::NDArrayMatrixMultiplication::alloc()->init(device.get(), 2));
  const auto error = [&](NS::Array* sources, const MPS::NDArray* result) {
    return run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources, result); });
  };
  EXPECT_NE(error(array_of({a.view, b.view}), a.view).find("has 3 columns, and the second 2 rows"), std::string::npos);
  EXPECT_NE(error(array_of({a.view, c.view}), a.view).find("dimension 2 has the length 2"), std::string::npos);
  EXPECT_NE(error(array_of({a.view, d.view}), a.view).find("of destinationArray has the length"), std::string::npos);
  EXPECT_NE(error(array_of({a.view}), a.view).find("sourceArrays has 1 arrays"), std::string::npos);
  EXPECT_NE(error(array_of({a.view, d.view}), nullptr).find("destinationArray is null"), std::string::npos);
  const NS::Object* objects[] = {a.view, queue.get()};
  EXPECT_NE(error(NS::Array::array(objects, 2), a.view).find("sourceArrays[1] is no array"), std::string::npos);
  const Array square = random_array(type, {4, 4}, false), other = random_array(type, {4, 4}, false);
  EXPECT_NE(error(array_of({square.view, other.view}), square.view).find("overlaps the first of sourceArrays"),
            std::string::npos);
  MTL::CommandBuffer* forgotten = queue->commandBuffer();
  MPS::NDArray* temporary = MPS::TemporaryNDArray::temporaryNDArray(
      forgotten, MPS::NDArrayDescriptor::descriptor(type, {size_t{4}, size_t{4}}));
  EXPECT_NE(error(array_of({temporary, other.view}), square.view).find("temporary, and of another command buffer"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps
