// Queues of a GPU, on a driver that is played: every kind of command, in order, and what happens after a fault.
#include <atomic>
#include <chrono>
#include <thread>

#include "fake_gpu.hpp"

namespace metalloid::nvidia {
namespace {

using namespace std::chrono_literals;

class NvidiaQueues : public FakeGpu {
 protected:
  // Adds a number to 64 integers; the number is the host's alone, as the data of setBytes is.
  static void add_to(const device::Memory& values, int by, const device::Pipeline& pipeline,
                     device::CommandList& list) {
    auto* number = static_cast<int*>(list.arena.allocate(sizeof by, alignof(int)));
    *number = by;
    list.commands.push_back(
        dispatch(pipeline, {argument(values), {reinterpret_cast<uint64_t>(number), sizeof by}}, list));
  }
};

TEST_F(NvidiaQueues, CarryOutEveryKindOfCommandInOrder) {
  const auto add = kernel(adds);
  const auto a = memory(256), b = memory(256), c = memory(256);
  std::fill_n(integers(*a), 64, 5);
  const auto event = std::make_shared<device::Event>();
  uint64_t before = 0, after = 0;
  int seen = 0;
  device::CommandList list;
  list.commands.push_back(device::Timestamp{&before});
  list.commands.push_back(device::Fill{a->address, 256, 0});
  add_to(*a, 3, *add, list);
  list.commands.push_back(device::Copy{a->address, b->address, 256});
  list.commands.push_back(device::SignalEvent{event, 1});
  list.commands.push_back(device::WaitEvent{event, 1});
  list.commands.push_back(device::HostWork{[&] { seen = integers(*b)[63]; }});
  list.commands.push_back(device::Deferred{[&](device::CommandList& more) { add_to(*b, 3, *add, more); }});
  // Two rows of two values, from columns 1 and 2 of rows of four.
  list.commands.push_back(device::Copy{b->address + 4, c->address, 8, 2, 1, 16, 0, 8, 0});
  list.commands.push_back(device::Timestamp{&after});
  const auto queue = device_->make_queue();
  const device::Outcome outcome = submit(*queue, std::move(list)).get();
  ASSERT_TRUE(outcome.faults.empty()) << outcome.faults.front().message;
  EXPECT_EQ(integers(*a)[63], 3);
  EXPECT_EQ(integers(*b)[63], 6);
  EXPECT_EQ(std::vector<int>(integers(*c), integers(*c) + 5), (std::vector<int>{6, 6, 6, 6, 0}));
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(event->value(), 1u);
  EXPECT_LE(outcome.started, before);
  EXPECT_LE(before, after);
  EXPECT_LE(after, outcome.ended);
}

TEST_F(NvidiaQueues, ReadTheSizeOfAnIndirectDispatchWhenAllBeforeIsDone) {
  const auto add = kernel(adds);
  const auto values = memory(256), size = memory(12);
  device::CommandList list;
  list.commands.push_back(device::HostWork{[&] { integers(*size)[0] = integers(*size)[1] = integers(*size)[2] = 1; }});
  add_to(*values, 7, *add, list);
  std::get<device::Dispatch>(list.commands.back()).indirect_threadgroups = size->address;
  const auto none = memory(12);
  add_to(*values, 7, *add, list);
  std::get<device::Dispatch>(list.commands.back()).indirect_threadgroups = none->address;
  const auto queue = device_->make_queue();
  EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
  EXPECT_EQ(integers(*values)[0], 7);
}

TEST_F(NvidiaQueues, DoNotWaitForTheGpuBetweenSubmissions) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  controls_->holds_launches = true;
  const auto queue = device_->make_queue();
  std::vector<std::future<device::Outcome>> outcomes;
  for (int i = 0; i < 100; ++i) {
    device::CommandList list;
    add_to(*values, i, *add, list);
    outcomes.push_back(submit(*queue, std::move(list)));
  }
  EXPECT_EQ(outcomes.front().wait_for(50ms), std::future_status::timeout);
  controls_->holds_launches = false;
  go_on();
  for (auto& outcome : outcomes) EXPECT_TRUE(outcome.get().faults.empty());
  EXPECT_EQ(integers(*values)[0], 99 * 100 / 2);
}

TEST_F(NvidiaQueues, SendTheDataOfAllDispatchesInOneCopy) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  const auto queue = device_->make_queue();
  for (int round = 1; round <= 2; ++round) {
    device::CommandList list;
    for (int i = 1; i <= 100; ++i) add_to(*values, i, *add, list);
    EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
    EXPECT_EQ(integers(*values)[0], round * 5050);
    EXPECT_EQ(controls_->copies, static_cast<uint64_t>(round));
  }
}

TEST_F(NvidiaQueues, WaitForEachOthersEvents) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  const auto event = std::make_shared<device::Event>();
  const auto first = device_->make_queue(), second = device_->make_queue();
  for (const bool waits_first : {true, false}) {
    const uint64_t value = event->value() + 1;
    device::CommandList signalling, waiting;
    add_to(*values, 1, *add, signalling);
    signalling.commands.push_back(device::SignalEvent{event, value});
    waiting.commands.push_back(device::WaitEvent{event, value});
    int seen = 0;
    waiting.commands.push_back(device::HostWork{[&] { seen = integers(*values)[0]; }});
    controls_->holds_launches = true;
    std::future<device::Outcome> waited, signalled;
    if (waits_first) waited = submit(*second, std::move(waiting));
    signalled = submit(*first, std::move(signalling));
    std::this_thread::sleep_for(20ms);
    if (!waits_first) waited = submit(*second, std::move(waiting));
    EXPECT_EQ(waited.wait_for(50ms), std::future_status::timeout);
    controls_->holds_launches = false;
    go_on();
    EXPECT_TRUE(waited.get().faults.empty());
    EXPECT_TRUE(signalled.get().faults.empty());
    EXPECT_EQ(seen, static_cast<int>(value));
  }
}

TEST_F(NvidiaQueues, GoOnAfterAFaultInANewContext) {
  const auto add = kernel(faults);
  const auto small = memory(256), large = memory(1 << 20), hidden = memory(256, device::Storage::private_to_device);
  const uint64_t contexts = controls_->contexts;
  const auto event = std::make_shared<device::Event>();
  const auto queue = device_->make_queue();
  int host_work = 0;
  device::CommandList list;
  list.commands.push_back(device::BeginGroup{"mistake", "compute encoder"});
  add_to(*small, 1, *add, list);
  list.commands.push_back(device::EndGroup{});
  list.commands.push_back(device::HostWork{[&] { ++host_work; }});
  list.commands.push_back(device::SignalEvent{event, 9});
  const device::Outcome outcome = submit(*queue, std::move(list)).get();
  ASSERT_EQ(outcome.faults.size(), 1u);
  EXPECT_EQ(outcome.faults[0].kind, device::FaultKind::page_fault);
  EXPECT_EQ(outcome.faults[0].kernel, "add");
  EXPECT_EQ(outcome.faults[0].encoder_label, "mistake");
  EXPECT_NE(outcome.faults[0].message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos);
  EXPECT_EQ(host_work, 1);
  EXPECT_EQ(event->value(), 9u);
  EXPECT_EQ(controls_->contexts, contexts + 1);

  // What the host has is still there, and the pipeline works again.
  controls_->kernel = adds;
  integers(*small)[0] = 40;
  device::CommandList again;
  add_to(*small, 2, *add, again);
  EXPECT_TRUE(submit(*queue, std::move(again)).get().faults.empty());
  EXPECT_EQ(integers(*small)[0], 42);

  // What the GPU had is lost: reading it ends nothing, and using it is an error.
  EXPECT_EQ(integers(*large)[0], 0);
  for (const auto* lost : {&large, &hidden}) {
    device::CommandList use;
    add_to(**lost, 1, *add, use);
    const device::Outcome refused = submit(*queue, std::move(use)).get();
    ASSERT_EQ(refused.faults.size(), 1u);
    EXPECT_EQ(refused.faults[0].kind, device::FaultKind::invalid_resource);
    EXPECT_NE(refused.faults[0].message.find("were lost when an earlier command buffer failed"), std::string::npos);
  }
}

TEST_F(NvidiaQueues, LetAFaultEndItsOwnSubmissionOnly) {
  static std::atomic<int> launches = 0;
  launches = 0;
  const auto add = kernel([](const fake::Launch& launch) { return ++launches == 3 ? 700 : adds(launch); });
  const auto values = memory(256), others = memory(256);
  const auto queue = device_->make_queue(), other = device_->make_queue();
  std::vector<std::future<device::Outcome>> outcomes;
  controls_->holds_launches = true;
  for (int i = 0; i < 6; ++i) {
    device::CommandList list;
    add_to(*values, 1, *add, list);
    outcomes.push_back(submit(*queue, std::move(list)));
  }
  std::this_thread::sleep_for(20ms);
  controls_->holds_launches = false;
  go_on();
  size_t failed = 0;
  for (auto& outcome : outcomes) failed += !outcome.get().faults.empty();
  EXPECT_EQ(failed, 1u);
  EXPECT_EQ(integers(*values)[0], 5);
  device::CommandList list;
  add_to(*others, 1, *add, list);
  EXPECT_TRUE(submit(*other, std::move(list)).get().faults.empty());
}

TEST_F(NvidiaQueues, TellAnObserverOfEveryCommand) {
  struct Counter final : device::Observer {
    std::vector<size_t> kinds;
    uint64_t last = 0;
    void carried_out(const device::Command& command, uint64_t started, uint64_t ended) override {
      EXPECT_LE(started, ended);
      EXPECT_LE(last, ended);
      last = ended;
      kinds.push_back(command.index());
    }
  };
  const auto add = kernel(adds);
  const auto values = memory(256);
  const auto counter = std::make_shared<Counter>();
  auto submission = std::make_unique<device::Submission>();
  add_to(*values, 1, *add, submission->list);
  submission->list.commands.push_back(device::Fill{values->address, 4, 1});
  std::promise<void> done;
  submission->observer = counter;
  submission->log = [](const device::Log&) {};
  submission->completed = [&](const device::Outcome&) { done.set_value(); };
  const auto queue = device_->make_queue();
  queue->submit(std::move(submission));
  done.get_future().wait();
  EXPECT_EQ(counter->kinds, (std::vector<size_t>{0, 2}));
}

TEST_F(NvidiaQueues, LaunchGridsTooLongForTheHardwareAsRows) {
  static std::atomic<unsigned> longest = 0;
  const auto add = kernel([](const fake::Launch& launch) {
    longest = launch.grid[0];
    return launch.grid[1] == 1 && launch.grid[2] == 1 ? 0 : 700;
  });
  const auto values = memory(256);
  device::CommandList list;
  add_to(*values, 1, *add, list);
  std::get<device::Dispatch>(list.commands.back()).threads_per_grid = {64, 70000, 1};
  const auto queue = device_->make_queue();
  EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
  EXPECT_EQ(longest, 140000u);
}

}  // namespace
}  // namespace metalloid::nvidia
