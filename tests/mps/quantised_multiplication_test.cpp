#include "mps_program.hpp"

namespace metalloid::mps {
namespace {

class QuantisedMultiplicationTest : public MpsTest {
 protected:
  struct Array {
    NS::SharedPtr<MPS::NDArray> array;
    std::vector<double> numbers;  // row by row
    size_t columns = 0;
    double at(size_t row, size_t column) const { return numbers[row * columns + column]; }
  };

  Array random_floats(size_t rows, size_t columns, double low, double high, bool whole = false,
                      MPS::DataType type = MPS::DataTypeFloat32) {
    auto* descriptor = MPS::NDArrayDescriptor::descriptor(type, {columns, rows});
    Array made{NS::TransferPtr(MPS::NDArray::alloc()->init(device.get(), descriptor)), {}, columns};
    std::uniform_real_distribution<double> distribution(low, high);
    std::vector<uint32_t> memory(rows * columns);
    for (size_t i = 0; i < rows * columns; ++i) {
      set_number(memory.data(), i, type, whole ? std::floor(distribution(random)) : distribution(random));
      made.numbers.push_back(number_at(memory.data(), i, type));
    }
    made.array->writeBytes(memory.data(), nullptr);
    return made;
  }

  // Any bits; what is remembered is the number as it is stored, without sign.
  Array random_quantised(MPS::DataType type, size_t rows, size_t columns) {
    const size_t bits = type & 0xffff, row_bytes = (columns * bits / 8 + 15) / 16 * 16;
    const auto buffer = NS::TransferPtr(device->newBuffer(row_bytes * rows, MTL::ResourceStorageModeShared));
    auto* bytes = static_cast<uint8_t*>(buffer->contents());
    for (size_t i = 0; i < row_bytes * rows; ++i) bytes[i] = uint8_t(random());
    auto* descriptor = MPS::NDArrayDescriptor::descriptor(type, {columns, rows});
    Array made{NS::TransferPtr(MPS::NDArray::alloc()->init(buffer.get(), 0, descriptor)), {}, columns};
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column)
        made.numbers.push_back(bits == 8 ? bytes[row * row_bytes + column]
                                         : bytes[row * row_bytes + column / 2] >> (column % 2 * 4) & 15);
    return made;
  }

  static double signed_number(double stored, MPS::DataType type, bool implicit) {
    const double half = std::exp2(double(type & 0xffff) - 1);
    if (!(type & MPS::DataTypeSignedBit)) return stored;
    return implicit ? stored - half : stored >= half ? stored - 2 * half : stored;
  }

  void check(const std::vector<double>& left, const std::vector<double>& right, size_t rows, size_t columns,
             size_t interior, MPS::NDArrayQuantizedMatrixMultiplication* kernel,
             const std::vector<const NS::Object*>& sources, MPS::DataType type) {
    auto* descriptor = MPS::NDArrayDescriptor::descriptor(type, {columns, rows});
    const auto result = NS::TransferPtr(MPS::NDArray::alloc()->init(device.get(), descriptor));
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encode(commands, NS::Array::array(sources.data(), sources.size()), result.get());
              }),
              "");
    std::vector<uint32_t> memory(rows * columns);
    result->readBytes(memory.data(), nullptr);
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) {
        double sum = 0, sizes = 0;
        for (size_t i = 0; i < interior; ++i) {
          const double product = left[row * interior + i] * right[i * columns + column];
          sum += product;
          sizes += std::abs(product);
        }
        // Roundings of what is dequantised and of float sums, and that of the result.
        ASSERT_NEAR(number_at(memory.data(), row * columns + column, type), sum,
                    rounding_of(type) * std::abs(sum) + 0x1p-20 * (sizes + 1))
            << row << ", " << column;
      }
  }
};
INSTANTIATE_MPS_TEST(QuantisedMultiplicationTest);

TEST_P(QuantisedMultiplicationTest, MultipliesByAffineNumbersInBlocks) {
  const size_t rows = 5, columns = 34, interior = 64;
  for (const MPS::DataType type : {MPS::DataTypeInt8, MPS::DataTypeUInt8, MPS::DataTypeInt4, MPS::DataTypeUInt4})
    for (unsigned options = 0; options < 8; ++options)
      for (const auto& [scale_rows, scale_columns] :
           {std::pair<size_t, size_t>{1, 1}, {1, columns}, {interior / 16, columns / 2}}) {
        const bool zero_point = options & 1, minimum = options & 2, implicit = options & 4;
        const MPS::DataType float_type = options == 3 ? MPS::DataTypeFloat16 : MPS::DataTypeFloat32;
        const Array x = random_floats(rows, interior, -1, 1, false, float_type);
        const Array w = random_quantised(type, interior, columns);
        const Array scale = random_floats(scale_rows, scale_columns, 0.001, 0.01);
        const Array zero = random_floats(scale_rows, scale_columns, -3, 9, true, MPS::DataTypeInt8);
        const Array least = random_floats(scale_rows, scale_columns, -0.1, 0.1);
        const auto quantisation =
            NS::TransferPtr(MPS::NDArrayAffineQuantizationDescriptor::alloc()->init(type, zero_point, minimum));
        quantisation->setImplicitZeroPoint(implicit);
        EXPECT_EQ(quantisation->quantizationScheme(), MPS::NDArrayQuantizationTypeAffine);
        std::vector<double> right;
        for (size_t row = 0; row < interior; ++row)
          for (size_t column = 0; column < columns; ++column) {
            const size_t r = row / (interior / scale_rows), c = column / (columns / scale_columns);
            right.push_back(scale.at(r, c) *
                                (signed_number(w.at(row, column), type, implicit) - (zero_point ? zero.at(r, c) : 0)) +
                            (minimum ? least.at(r, c) : 0));
          }
        std::vector<const NS::Object*> sources = {x.array.get(), w.array.get(), scale.array.get()};
        if (zero_point) sources.push_back(zero.array.get());
        if (minimum) sources.push_back(least.array.get());
        const auto kernel = NS::TransferPtr(
            MPS::NDArrayQuantizedMatrixMultiplication::alloc()->init(device.get(), nullptr, quantisation.get()));
        check(x.numbers, right, rows, columns, interior, kernel.get(), sources, float_type);
      }
}

TEST_P(QuantisedMultiplicationTest, MultipliesNumbersOfTablesOnBothSides) {
  const size_t rows = 6, columns = 20, interior = 32;
  const Array a = random_quantised(MPS::DataTypeUInt8, rows, interior), a_table = random_floats(256, 1, -1, 1);
  const Array b = random_quantised(MPS::DataTypeUInt4, interior, columns), b_table = random_floats(16, 1, -1, 1);
  const auto left = NS::TransferPtr(MPS::NDArrayLUTQuantizationDescriptor::alloc()->init(MPS::DataTypeUInt8));
  const auto right = NS::TransferPtr(MPS::NDArrayLUTQuantizationDescriptor::alloc()->init(MPS::DataTypeUInt4));
  const auto kernel =
      NS::TransferPtr(MPS::NDArrayQuantizedMatrixMultiplication::alloc()->init(device.get(), left.get(), right.get()));
  std::vector<double> of_a, of_b;
  for (const double q : a.numbers) of_a.push_back(a_table.numbers[size_t(q)]);
  for (const double q : b.numbers) of_b.push_back(b_table.numbers[size_t(q)]);
  check(of_a, of_b, rows, columns, interior, kernel.get(),
        {a.array.get(), b.array.get(), a_table.array.get(), b_table.array.get()}, MPS::DataTypeFloat32);
}

TEST_P(QuantisedMultiplicationTest, RefusesWhatDoesNotFitAndSaysWhy) {
  EXPECT_EQ(MPS::NDArrayLUTQuantizationDescriptor::alloc()->init(MPS::DataTypeFloat32), nullptr);
  const Array x = random_floats(2, 8, -1, 1), w = random_quantised(MPS::DataTypeInt8, 8, 4),
              scale = random_floats(3, 1, 0, 1), result = random_floats(2, 4, 0, 1);
  const auto quantisation =
      NS::TransferPtr(MPS::NDArrayAffineQuantizationDescriptor::alloc()->init(MPS::DataTypeInt8, false, false));
  const auto kernel = NS::TransferPtr(
      MPS::NDArrayQuantizedMatrixMultiplication::alloc()->init(device.get(), nullptr, quantisation.get()));
  const auto error = [&](const std::vector<const NS::Object*>& sources) {
    return run([&](MTL::CommandBuffer* commands) {
      kernel->encode(commands, NS::Array::array(sources.data(), sources.size()), result.array.get());
    });
  };
  EXPECT_NE(error({x.array.get(), w.array.get()}).find("sourceArrays has 2 arrays; the quantisation takes 3"),
            std::string::npos);
  EXPECT_NE(error({x.array.get(), w.array.get(), scale.array.get()}).find("no multiple of the 3 scales"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps
