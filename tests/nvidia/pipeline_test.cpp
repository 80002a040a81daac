// Which variant of a kernel a launch gets, on a driver that is played: code that takes buffers for aligned and apart is
// for launches whose buffers are.
#include "nvidia/pipeline.hpp"

#include "fake_gpu.hpp"

namespace metalloid::nvidia {
namespace {

class NvidiaPipelines : public FakeGpu {
 protected:
  // Of the kernel `add`, which writes to the first of its buffers and only reads the second.
  bool are_apart(device::Argument values, device::Argument by) {
    if (!add_) add_ = kernel(adds);
    return static_cast<const Pipeline&>(*add_).are_apart(std::array{values.value, by.value}, std::array{values, by});
  }

 private:
  std::shared_ptr<device::Pipeline> add_;
};

TEST_F(NvidiaPipelines, TakeBuffersForApartIfTheyAre) {
  EXPECT_TRUE(are_apart({4096, 256}, {8192, 4}));
  EXPECT_TRUE(are_apart({4096, 256}, {4096 + 256, 4}));
  EXPECT_TRUE(are_apart({4096, 256}, {4096 - 16, 16}));
}

TEST_F(NvidiaPipelines, SeeBuffersThatOverlapOrAreNotAligned) {
  EXPECT_FALSE(are_apart({4096, 256}, {4096, 4}));
  EXPECT_FALSE(are_apart({4096, 256}, {4096 + 240, 4}));
  EXPECT_FALSE(are_apart({4096, 256}, {4096 - 16, 32}));
  EXPECT_FALSE(are_apart({4096 + 4, 256}, {8192, 4}));
  EXPECT_FALSE(are_apart({4096, 256}, {8192 + 8, 4}));
}

TEST_F(NvidiaPipelines, CompileAnotherVariantForBuffersThatAreNot) {
  const auto add = kernel(adds);
  const auto values = memory(8192);
  std::fill_n(integers(*values), 2048, 1);
  int two = 2;
  const auto queue = device_->make_queue();
  const auto run = [&](device::Argument to, device::Argument by) {
    device::CommandList list;
    list.commands.push_back(dispatch(*add, {to, by}, list));
    const device::Outcome outcome = submit(*queue, std::move(list)).get();
    EXPECT_TRUE(outcome.faults.empty()) << outcome.faults.front().message;
  };
  const uint64_t modules = controls_->modules;
  run({values->address, 4096}, {values->address + 4096, 4});
  EXPECT_EQ(controls_->modules, modules);
  run({values->address + 4, 4096}, {reinterpret_cast<uint64_t>(&two), sizeof two});
  EXPECT_EQ(controls_->modules, modules + 1);
  run({values->address, 8192}, {values->address + 4096, 4});
  EXPECT_EQ(controls_->modules, modules + 1);
  EXPECT_EQ(integers(*values)[0], 1 + 1 + 1);
  EXPECT_EQ(integers(*values)[1], 1 + 1 + 2 + 1);
  EXPECT_EQ(integers(*values)[64], 1 + 2);
}

}  // namespace
}  // namespace metalloid::nvidia
