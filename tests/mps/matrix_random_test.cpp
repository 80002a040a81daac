#include <algorithm>

#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

class MatrixRandomTest : public MatrixTest {
 protected:
  template <class Generator>
  void check_seeds();
  template <class Generator>
  void check_distributions();
};
INSTANTIATE_MPS_TEST(MatrixRandomTest);

// The vectors that the authors of Philox publish for 4x32-10, as far as a 64-bit counter can give them.
TEST_P(MatrixRandomTest, PhiloxGivesThePublishedNumbers) {
  Numbers numbers = random_matrix({.rows = 1, .columns = 4, .type = MPS::DataTypeUInt32}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixRandomPhilox::alloc()->init(device.get()));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, numbers.matrix()); }), "");
  const uint32_t expected[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(uint32_t(numbers.at(0, i)), expected[i]);
}

template <class Generator>
void MatrixRandomTest::check_seeds() {
  const auto draw = [&](NS::UInteger seed, size_t calls) {
    const auto kernel = NS::TransferPtr(Generator::alloc()->init(device.get(), MPS::DataTypeUInt32, seed));
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

TEST_P(MatrixRandomTest, ASeedGivesTheSameNumbersAndCallsGoOn) {
  check_seeds<MPS::MatrixRandomPhilox>();
  check_seeds<MPS::MatrixRandomMTGP32>();
}

template <class Generator>
void MatrixRandomTest::check_distributions() {
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
    const auto kernel =
        NS::TransferPtr(Generator::alloc()->init(device.get(), MPS::DataTypeFloat32, 17, each.descriptor));
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

TEST_P(MatrixRandomTest, DistributionsHaveTheirMeanVarianceAndBounds) {
  check_distributions<MPS::MatrixRandomPhilox>();
  check_distributions<MPS::MatrixRandomMTGP32>();
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

// MTGP32 word by word, as its authors describe it; with the first of the parameters that they publish for the exponent
// 11213, and their way to seed it.
class Twister {
 public:
  explicit Twister(uint32_t seed) {
    const uint32_t hidden = 0xecc00000 ^ (0x00009fd9u << 16);
    uint32_t filler = hidden + (hidden >> 16);
    filler += filler >> 8;
    x_.assign(351, (filler & 0xff) * 0x01010101u);
    x_[0] = seed;
    x_[1] = hidden;
    for (uint32_t i = 1; i < 351; ++i) x_[i] ^= 1812433253u * (x_[i - 1] ^ (x_[i - 1] >> 30)) + i;
  }

  uint32_t next() {
    const size_t i = x_.size() - 351;
    uint32_t y = (x_[i] & 0xfff80000) ^ x_[i + 1];
    y ^= y << 13;
    y ^= x_[i + 19] >> 4;
    x_.push_back(y ^ recursion[y & 15]);
    uint32_t t = x_[i + 18];
    t ^= t >> 16;
    t ^= t >> 8;
    return x_.back() ^ tempering[t & 15];
  }

 private:
  static constexpr uint32_t recursion[] = {0x00000000, 0x4f909277, 0xd506358c, 0x9a96a7fb, 0xecc00000, 0xa3509277,
                                           0x39c6358c, 0x7656a7fb, 0x00009fd9, 0x4f900dae, 0xd506aa55, 0x9a963822,
                                           0xecc09fd9, 0xa3500dae, 0x39c6aa55, 0x76563822};
  static constexpr uint32_t tempering[] = {0x00000000, 0x007c4132, 0x2b4020ed, 0x2b3c61df, 0x000240a5, 0x007e0197,
                                           0x2b426048, 0x2b3e217a, 0x00414015, 0x003d0127, 0x2b0160f8, 0x2b7d21ca,
                                           0x004300b0, 0x003f4182, 0x2b03205d, 0x2b7f616f};
  std::vector<uint32_t> x_;
};

// The first of 32 streams, which take turns in blocks of 128 numbers.
TEST_P(MatrixRandomTest, TheTwisterIsThatOfItsAuthors) {
  const size_t turn = 32 * 128, columns = 11 * turn + 37;
  const auto kernel = NS::TransferPtr(MPS::MatrixRandomMTGP32::alloc()->init(device.get(), MPS::DataTypeUInt32, 41));
  Twister twister(42);
  for (int call = 0; call < 2; ++call) {
    Numbers numbers = random_matrix({.rows = 1, .columns = columns, .type = MPS::DataTypeUInt32}, 0, 0);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, numbers.matrix()); }), "");
    for (size_t block = 0; block < 12; ++block)
      for (size_t i = 0; i < 128; ++i) {
        const uint32_t expected = twister.next();
        const size_t place = block * turn + i;
        if (place >= columns) continue;
        ASSERT_EQ(uint32_t(numbers.at(0, place)), expected) << "number " << place << " of call " << call;
      }
  }
}

TEST_P(MatrixRandomTest, ACopyOfATwisterGoesOnByItself) {
  const auto draw = [&](MPS::MatrixRandom* kernel) {
    Numbers numbers = random_matrix({.rows = 2, .columns = 9, .type = MPS::DataTypeUInt32}, 0, 0);
    EXPECT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, numbers.matrix()); }), "");
    std::vector<double> drawn;
    for (size_t i = 0; i < 18; ++i) drawn.push_back(numbers.at(i / 9, i % 9));
    return drawn;
  };
  const auto kernel = NS::TransferPtr(MPS::MatrixRandomMTGP32::alloc()->init(device.get()));
  const auto first = draw(kernel.get());
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->synchronizeState(commands); }), "");
  const auto copy = NS::TransferPtr(static_cast<MPS::MatrixRandomMTGP32*>(kernel->copy()));
  const auto second = draw(kernel.get());
  EXPECT_NE(first, second);
  EXPECT_EQ(draw(copy.get()), second);
  EXPECT_FALSE(MPS::MatrixRandomMTGP32::alloc()->init(nullptr));
  EXPECT_FALSE(MPS::MatrixRandomMTGP32::alloc()->init(device.get(), MPS::DataTypeFloat16, 0));
}

}  // namespace
}  // namespace metalloid::mps
