#include <algorithm>

#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

using MatrixRandomTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatrixRandomTest);

// The vectors that the authors of Philox publish for 4x32-10, as far as a 64-bit counter can give them.
TEST_P(MatrixRandomTest, PhiloxGivesThePublishedNumbers) {
  Numbers numbers = random_matrix({.rows = 1, .columns = 4, .type = MPS::DataTypeUInt32}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixRandomPhilox::alloc()->init(device.get()));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, numbers.matrix()); }), "");
  const uint32_t expected[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(uint32_t(numbers.at(0, i)), expected[i]);
}

TEST_P(MatrixRandomTest, ASeedGivesTheSameNumbersAndCallsGoOn) {
  const auto draw = [&](NS::UInteger seed, size_t calls) {
    const auto kernel =
        NS::TransferPtr(MPS::MatrixRandomPhilox::alloc()->init(device.get(), MPS::DataTypeUInt32, seed));
    std::vector<double> drawn;
    for (size_t call = 0; call < calls; ++call) {
      Numbers numbers = random_matrix({.rows = 3, .columns = 7, .matrices = 2, .type = MPS::DataTypeUInt32}, 0, 0);
      EXPECT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, numbers.matrix()); }), "");
      for (size_t i = 0; i < 42; ++i) drawn.push_back(numbers.at(i / 7 % 3, i % 7, i / 21));
    }
    return drawn;
  };
  const std::vector<double> first = draw(5, 2);
  EXPECT_EQ(first, draw(5, 2));
  EXPECT_NE(first, draw(6, 2));
  std::vector<double> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end()) << "numbers came twice";
}

TEST_P(MatrixRandomTest, DistributionsHaveTheirMeanVarianceAndBounds) {
  const size_t count = 100000;
  Numbers numbers = random_matrix({.rows = 1, .columns = count}, 0, 0);
  const auto vector = vector_of(numbers);
  struct Case {
    MPS::MatrixRandomDistributionDescriptor* descriptor;
    double mean, deviation, low, high;
  };
  using Descriptor = MPS::MatrixRandomDistributionDescriptor;
  for (const Case& each : {Case{Descriptor::uniformDistributionDescriptor(-1, 3), 1, 4 / std::sqrt(12), -1, 3},
                           Case{Descriptor::defaultDistributionDescriptor(), 0.5, 1 / std::sqrt(12), 0, 1},
                           Case{Descriptor::normalDistributionDescriptor(2, 3), 2, 3, -20, 24},
                           Case{Descriptor::normalDistributionDescriptor(0, 1, -8, 8), 0, 1, -8, 8}}) {
    const auto kernel = NS::TransferPtr(
        MPS::MatrixRandomPhilox::alloc()->init(device.get(), MPS::DataTypeFloat32, 17, each.descriptor));
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, vector.get()); }), "");
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; ++i) {
      const double x = numbers.at(0, i);
      ASSERT_GE(x, each.low);
      ASSERT_LE(x, each.high);
      sum += x;
      squares += (x - each.mean) * (x - each.mean);
    }
    // Five standard errors.
    EXPECT_NEAR(sum / count, each.mean, 5 * each.deviation / std::sqrt(count));
    EXPECT_NEAR(std::sqrt(squares / count), each.deviation, 5 * each.deviation / std::sqrt(count));
  }
}

TEST_P(MatrixRandomTest, RefusesTypesItCannotMake) {
  EXPECT_FALSE(MPS::MatrixRandomPhilox::alloc()->init(device.get(), MPS::DataTypeFloat16, 0));
  EXPECT_FALSE(MPS::MatrixRandomPhilox::alloc()->init(
      device.get(), MPS::DataTypeUInt32, 0,
      MPS::MatrixRandomDistributionDescriptor::uniformDistributionDescriptor(0, 1)));
  Numbers numbers = random_matrix({.rows = 1, .columns = 4}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixRandomPhilox::alloc()->init(device.get()));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, numbers.matrix());
            }).find("destinationMatrix has the type Float32, and destinationDataType is UInt32"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps
