// Buffers at any offset, and buffers that are the same memory: devices that make faster code for buffers that are
// aligned and apart must not use it here.
#include <numeric>

#include "command_program.hpp"

namespace {

class Overlap : public CommandProgram {
 protected:
  // Every thread has four elements, one after the other.
  static constexpr const char* source = R"(
    kernel void in_fours(device const uint* from, device uint* to, uint i [[thread_position_in_grid]]) {
      for (uint k = 0; k < 4; ++k) to[4 * i + k] = 3 * from[4 * i + k] + k;
    })";

  void run(const NS::SharedPtr<MTL::Buffer>& from, size_t first, const NS::SharedPtr<MTL::Buffer>& to, size_t place,
           size_t threads) {
    const auto made = MetalProgram::pipeline(function(library(source), "in_fours"));
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(made.get());
    encoder->setBuffer(from.get(), first * sizeof(uint32_t), 0);
    encoder->setBuffer(to.get(), place * sizeof(uint32_t), 1);
    encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(std::min<size_t>(threads, 32), 1, 1));
    encoder->endEncoding();
    finish(commands);
  }

  // What one thread after the other leaves.
  static void expect(const uint32_t* from, uint32_t* to, size_t threads) {
    for (size_t i = 0; i < 4 * threads; ++i) to[i] = 3 * from[i] + i % 4;
  }

  static std::vector<uint32_t> numbers() {
    std::vector<uint32_t> values(300);
    std::iota(values.begin(), values.end(), 1);
    return values;
  }
};

TEST_F(Overlap, EveryOffsetGivesTheSame) {
  for (const size_t first : {0, 1, 2, 4})
    for (const size_t place : {0, 1, 3, 4}) {
      const auto from = buffer(numbers()), to = buffer(numbers());
      run(from, first, to, place, 64);
      auto expected = numbers();
      expect(numbers().data() + first, expected.data() + place, 64);
      EXPECT_EQ(values(to), expected) << first << " " << place;
      EXPECT_EQ(values(from), numbers());
    }
}

TEST_F(Overlap, ABufferCanBeWrittenWhereItIsRead) {
  for (const size_t place : {0, 1, 4}) {
    const auto data = buffer(numbers());
    run(data, place, data, place, 64);
    auto expected = numbers();
    expect(expected.data() + place, expected.data() + place, 64);
    EXPECT_EQ(values(data), expected) << place;
  }
}

TEST_F(Overlap, AThreadReadsWhatItHasWrittenThroughAnotherBuffer) {
  for (const size_t distance : {1, 2, 3, 4}) {
    const auto data = buffer(numbers());
    run(data, 0, data, distance, 1);
    auto expected = numbers();
    expect(expected.data(), expected.data() + distance, 1);
    EXPECT_EQ(values(data), expected) << distance;
  }
}

}  // namespace
