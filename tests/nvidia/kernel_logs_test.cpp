// What kernels log, read from memory that they can write anything to.
#include "nvidia/kernel_logs.hpp"

#include <cstring>

#include "fake_gpu.hpp"

namespace metalloid::nvidia {
namespace {

class NvidiaLogs : public FakeGpu {
 protected:
  // As a kernel that has written these words would leave it.
  void write(uint64_t address, std::vector<uint64_t> words, uint32_t used, uint32_t lost = 0) {
    auto* buffer = reinterpret_cast<LogBuffer*>(address);
    buffer->used = used;
    buffer->lost = lost;
    std::memcpy(reinterpret_cast<uint64_t*>(buffer + 1), words.data(), words.size() * sizeof(uint64_t));
  }

  std::vector<std::string> messages() {
    std::vector<std::string> all;
    logs_.deliver([&](const device::Log& log) { all.push_back(log.kernel + ": " + log.message); });
    return all;
  }

  const Result<std::shared_ptr<Gpu>> gpu_ = Driver::shared() ? Gpu::open(*Driver::shared(), 0) : Error{"no driver"};
  PinnedPages pages_{gpu_ ? *gpu_ : nullptr, log_buffer_bytes};
  const std::vector<LogSite> sites_ = {{3, "", "", "x is %d"}, {4, "", "", "%d of %d"}};
  KernelLogs logs_;
};

TEST_F(NvidiaLogs, AreTextsInTheOrderOfWriting) {
  const auto first = logs_.add(pages_, sites_, "f", ""), second = logs_.add(pages_, sites_, "g", "");
  ASSERT_TRUE(first && second);
  write(*first, {uint64_t{2} << 32 | 1, 3, 4, uint64_t{1} << 32, 5}, 5);
  write(*second, {uint64_t{1} << 32, 6}, 2, 7);
  EXPECT_EQ(messages(), (std::vector<std::string>{"f: 3 of 4", "f: x is 5", "g: x is 6",
                                                  "g: 7 more messages of this kernel did not fit into its log"}));
  logs_.give_back(pages_);
  EXPECT_TRUE(messages().empty());
}

TEST_F(NvidiaLogs, FindStringsOnlyInTheirRecord) {
  const std::vector<LogSite> sites = {{3, "", "", "%s, %s"}};
  const auto buffer = logs_.add(pages_, sites, "f", "");
  ASSERT_TRUE(buffer);
  const uint64_t text = 0x74786574, endless = ~uint64_t{0};
  const auto head = [](uint64_t words) { return words << 32; };
  write(*buffer, {head(3), 3, 0, text, head(3), 4, 3, endless, head(2), 1, 77}, 11);
  EXPECT_EQ(messages(), (std::vector<std::string>{"f: text, (null)", "f: <unreadable>, <unreadable>",
                                                  "f: <unreadable>, <unreadable>"}));
}

TEST_F(NvidiaLogs, EndWhereTheyMakeNoSense) {
  const auto no_site = logs_.add(pages_, sites_, "f", ""), too_long = logs_.add(pages_, sites_, "g", "");
  ASSERT_TRUE(no_site && too_long);
  write(*no_site, {uint64_t{1} << 32, 1, uint64_t{1} << 32 | 2, 1}, 4);
  write(*too_long, {uint64_t{1} << 32, 2, uint64_t{0xffffffff} << 32, 1}, UINT32_MAX);
  EXPECT_EQ(messages(), (std::vector<std::string>{"f: x is 1", "g: x is 2"}));
}

}  // namespace
}  // namespace metalloid::nvidia
