// Queues of a GPU, on a driver that is played: every kind of command, in order, and what happens after a fault.
#include <atomic>
#include <chrono>
#include <thread>

#include "fake_gpu.hpp"
#include "nvidia/driver.hpp"

namespace metalloid::nvidia {
namespace {

using namespace std::chrono_literals;

class NvidiaQueues : public FakeGpu {
 protected:
  // As a library would: with the driver, on the stream it is given.
  static Status fill_first(const device::Memory& values, void* stream, unsigned char value) {
    const auto& driver = *Driver::shared();
    const cuda::Code code = driver.fill(values.address, value, 4, static_cast<cuda::Stream>(stream));
    return code == cuda::Code::success ? success() : Status(Error{driver.describe(code)});
  }

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
  EXPECT_LE(outcome.span().started, before);
  EXPECT_LE(before, after);
  EXPECT_LE(after, outcome.span().ended);
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

TEST_F(NvidiaQueues, PutShortSubmissionsOnTheStreamAtOnceIfTheyCallNobody) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  for (const bool is_short : {true, false})
    for (const bool calls_program : {true, false}) {
      const auto queue = device_->make_queue();
      std::thread::id thread;
      device::CommandList list;
      add_to(*values, 1, *add, list);
      if (!is_short) list.commands.push_back(device::HostWork{[] {}});
      auto outcome = submit(*queue, std::move(list), calls_program, [&thread] { thread = std::this_thread::get_id(); });
      EXPECT_TRUE(outcome.get().faults.empty());
      EXPECT_EQ(thread == std::this_thread::get_id(), is_short && !calls_program);
    }
  EXPECT_EQ(integers(*values)[0], 4);
}

TEST_F(NvidiaQueues, EndWhatIsUnderWayOnWhicheverThreadLooksOut) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  const auto queue = device_->make_queue();
  for (int round = 0; round < 1000; ++round) {
    device::CommandList list;
    add_to(*values, 1, *add, list);
    if (round % 10 == 5) std::this_thread::sleep_for(2ms);  // the queue sleeps meanwhile
    controls_->holds_launches = round % 10 == 0;
    auto outcome = submit(*queue, std::move(list), /*calls_program=*/false);
    const auto is_reached = [&] { return outcome.wait_for(0s) == std::future_status::ready; };
    queue->look_out(is_reached);
    EXPECT_FALSE(controls_->holds_launches && is_reached());
    controls_->holds_launches = false;
    go_on();
    EXPECT_TRUE(outcome.get().faults.empty());
    EXPECT_EQ(integers(*values)[0], round + 1);
  }
}

TEST_F(NvidiaQueues, KeepTheOrderOfThreadsThatSubmitAndLookOut) {
  const auto add = kernel(adds);
  constexpr int threads = 4, rounds = 200;
  std::vector<std::unique_ptr<device::Memory>> values;
  for (int i = 0; i < threads; ++i) values.push_back(memory(256));
  const auto queue = device_->make_queue();
  const auto work = [&](const device::Memory& own, int thread) {
    for (int round = 0; round < rounds; ++round) {
      int seen = 0;
      device::CommandList first, second;
      add_to(own, 1, *add, first);
      if ((round + thread) % 3 == 0) first.commands.push_back(device::Fill{own.address + 252, 4, 0});
      second.commands.push_back(device::HostWork{[&] { seen = integers(own)[0]; }});
      auto before = submit(*queue, std::move(first), /*calls_program=*/false);
      auto after = submit(*queue, std::move(second), /*calls_program=*/round % 2 == 0);
      queue->look_out([&] { return after.wait_for(0s) == std::future_status::ready; });
      EXPECT_TRUE(after.get().faults.empty());
      EXPECT_EQ(before.wait_for(0s), std::future_status::ready);
      EXPECT_EQ(seen, round + 1);
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back([&, i] { work(*values[static_cast<size_t>(i)], i); });
  for (std::thread& worker : workers) worker.join();
}

TEST_F(NvidiaQueues, EndAShortSubmissionThatFaults) {
  const auto add = kernel(faults);
  const auto values = memory(256);
  const auto queue = device_->make_queue();
  for (int round = 0; round < 2; ++round) {
    device::CommandList list;
    add_to(*values, 1, *add, list);
    auto outcome = submit(*queue, std::move(list), /*calls_program=*/false);
    queue->look_out([&] { return outcome.wait_for(0s) == std::future_status::ready; });
    const device::Outcome ended = outcome.get();
    ASSERT_EQ(ended.faults.size(), 1u);
    EXPECT_EQ(ended.faults[0].kind, device::FaultKind::page_fault);
  }
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

TEST_F(NvidiaQueues, LaunchLongRowsOfDispatchesAsGraphsThatAreUsedAgain) {
  const auto add = kernel(adds), subtract = kernel(adds, "subtract");
  const auto values = memory(256), others = memory(256);
  const auto queue = device_->make_queue();
  int expected = 0;
  for (const int dispatches : {7, 8, 100, 100, 300}) {
    device::CommandList list;
    for (int i = 1; i <= dispatches; ++i) {
      expected += i;
      add_to(i % 3 == 0 ? *others : *values, i, i % 2 == 0 ? *add : *subtract, list);
    }
    const uint64_t launches = controls_->launches;
    EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
    EXPECT_EQ(controls_->launches, launches + static_cast<uint64_t>(dispatches));
    EXPECT_EQ(integers(*values)[0] + integers(*others)[0], expected);
  }
  // Two of 1, 2, 4, and so on to 128 launches each, and one for the hundred that come again.
  EXPECT_LE(controls_->graphs, 17u);
}

TEST_F(NvidiaQueues, ChangeOnlyWhatIsNewInAGraph) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  const auto queue = device_->make_queue();
  for (int round = 0; round < 6; ++round) {
    device::CommandList list;
    for (int i = 0; i < 64; ++i)
      list.commands.push_back(
          dispatch(*add, {argument(*values), argument(*values)}, list, {i == round ? 32u : 64u, 1, 1}));
    std::fill_n(integers(*values), 64, 1);
    EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
  }
  EXPECT_EQ(controls_->graphs, 2u);
  EXPECT_EQ(controls_->node_changes, 8u);
}

TEST_F(NvidiaQueues, DoNotChangeGraphsOfKernelsThatAreGone) {
  const auto values = memory(256);
  const auto queue = device_->make_queue();
  for (int round = 1; round <= 4; ++round) {
    const auto add = kernel(adds);
    for (const int dispatches : {1, 7, 7, 3}) {
      device::CommandList list;
      for (int i = 1; i <= dispatches; ++i) add_to(*values, i, *add, list);
      EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
    }
  }
  EXPECT_EQ(integers(*values)[0], 4 * (1 + 28 + 28 + 6));
  EXPECT_GT(controls_->node_changes, 0u);
  EXPECT_EQ(controls_->stale_node_changes, 0u);
}

TEST_F(NvidiaQueues, GiveDispatchesThatComeAgainAGraphOfTheirOwn) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  const auto queue = device_->make_queue();
  for (int round = 1; round <= 5; ++round) {
    device::CommandList list;
    for (int i = 1; i <= 7; ++i) add_to(*values, i * round, *add, list);
    EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
  }
  EXPECT_EQ(integers(*values)[0], 28 * 15);
  EXPECT_EQ(controls_->graphs, 4u);  // of 4, 2 and 1, when it was new, and of 7
  EXPECT_EQ(controls_->node_changes, 0u);
}

TEST_F(NvidiaQueues, KeepGraphsOfTheirOwnForThoseThatCameLast) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  const auto queue = device_->make_queue();
  for (int round = 0; round < 2; ++round)
    for (uint32_t length = 1; length <= 100; ++length) {
      device::CommandList list;
      for (int i = 0; i < 5; ++i)
        list.commands.push_back(dispatch(*add, {argument(*values), argument(*values)}, list, {length, 1, 1}));
      EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
    }
  EXPECT_EQ(controls_->graphs, 4u);  // two of 4 and of 1 each: every sequence was forgotten before it came again
}

TEST_F(NvidiaQueues, SayWhichOfManyLaunchesTheDriverRefused) {
  const auto add = kernel(adds), subtract = kernel(adds, "subtract");
  const auto values = memory(256), copy = memory(256);
  device::CommandList list;
  for (int i = 0; i < 20; ++i) {
    list.commands.push_back(device::BeginGroup{i == 10 ? "too wide" : "fine", "compute encoder"});
    add_to(*values, 1, i == 10 ? *subtract : *add, list);
    if (i == 10) std::get<device::Dispatch>(list.commands.back()).threads_per_threadgroup = {2048, 1, 1};
    list.commands.push_back(device::EndGroup{});
  }
  list.commands.push_back(device::Copy{values->address, copy->address, 256});
  const auto queue = device_->make_queue();
  const device::Outcome outcome = submit(*queue, std::move(list)).get();
  ASSERT_EQ(outcome.faults.size(), 1u);
  EXPECT_EQ(outcome.faults[0].kernel, "subtract");
  EXPECT_EQ(outcome.faults[0].encoder_label, "too wide");
  EXPECT_EQ(integers(*values)[0], 10);
  EXPECT_EQ(integers(*copy)[0], 0) << "what comes after a launch that failed is left out";
}

TEST_F(NvidiaQueues, LetLibrariesPutTheirWorkBetweenKernels) {
  const auto add = kernel(adds);
  const auto values = memory(1 << 20), weights = memory(1 << 20);
  device::CommandList list;
  add_to(*values, 3, *add, list);
  bool is_early = false;
  list.commands.push_back(
      device::LibraryWork{"fill", {argument(*values), argument(*weights)}, [&](device::LibraryStream* stream) {
                            is_early = integers(*values)[0] == 0;
                            return fill_first(*values, stream->handle, 2);
                          }});
  add_to(*values, 1, *add, list);
  controls_->holds_launches = true;
  const auto queue = device_->make_queue();
  auto outcome = submit(*queue, std::move(list));
  EXPECT_EQ(outcome.wait_for(50ms), std::future_status::timeout);
  controls_->holds_launches = false;
  go_on();
  EXPECT_TRUE(outcome.get().faults.empty());
  EXPECT_TRUE(is_early);  // nobody waited for the kernel before it
  EXPECT_EQ(integers(*values)[0], 0x02020203);
  EXPECT_EQ(integers(*values)[1], 4);
  EXPECT_EQ(controls_->prefetches, 2u);  // of each memory, once
}

TEST_F(NvidiaQueues, EndASubmissionWhoseLibraryFails) {
  const auto add = kernel(adds);
  const auto values = memory(256);
  device::CommandList list;
  list.commands.push_back(
      device::LibraryWork{"product", {}, [](device::LibraryStream*) -> Status { return Error{"no room"}; }});
  add_to(*values, 1, *add, list);
  const auto queue = device_->make_queue();
  const device::Outcome outcome = submit(*queue, std::move(list)).get();
  ASSERT_EQ(outcome.faults.size(), 1u);
  EXPECT_EQ(outcome.faults[0].message, "no room");
  EXPECT_EQ(integers(*values)[0], 0);
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

// As NVIDIA's driver does it.
TEST_F(NvidiaQueues, FailWithAClearErrorWhenTheDriverTakesNoMoreWorkAfterAFault) {
  const auto add = kernel(faults), subtract = kernel(faults, "subtract");
  const auto values = memory(256);
  const auto queue = device_->make_queue(), other = device_->make_queue();
  controls_->makes_contexts = false;
  device::CommandList list;
  list.commands.push_back(device::BeginGroup{"mistake", "compute encoder"});
  add_to(*values, 1, *add, list);
  list.commands.push_back(device::EndGroup{});
  list.commands.push_back(device::BeginGroup{nullptr, "compute encoder"});
  add_to(*values, 1, *subtract, list);
  const device::Outcome outcome = submit(*queue, std::move(list)).get();
  ASSERT_EQ(outcome.faults.size(), 1u);
  EXPECT_NE(outcome.faults[0].message.find("'add' of encoder 'mistake', 'subtract'"), std::string::npos)
      << outcome.faults[0].message;
  for (device::Queue* each : {queue.get(), other.get(), queue.get()}) {
    device::CommandList later;
    add_to(*values, 1, *add, later);
    const device::Outcome refused = submit(*each, std::move(later)).get();
    ASSERT_EQ(refused.faults.size(), 1u);
    EXPECT_EQ(refused.faults[0].kind, device::FaultKind::device_removed);
    EXPECT_NE(refused.faults[0].message.find("start the program again"), std::string::npos);
  }
  const auto refused = device_->allocate(1 << 20, device::Storage::shared);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("start the program again"), std::string::npos) << refused.error();
}

TEST_F(NvidiaQueues, GiveUpOnAKernelThatDoesNotEnd) {
  setenv("METALLOID_TIMEOUT", "0.1", 1);
  const auto add = kernel(adds);
  const auto values = memory(256);
  const auto queue = device_->make_queue(), other = device_->make_queue();
  controls_->holds_launches = true;
  std::vector<std::future<device::Outcome>> outcomes;
  for (device::Queue* each : {queue.get(), queue.get()}) {
    device::CommandList list;
    add_to(*values, 1, *add, list);
    outcomes.push_back(submit(*each, std::move(list)));
  }
  const device::Outcome stuck = outcomes[0].get();
  unsetenv("METALLOID_TIMEOUT");
  ASSERT_EQ(stuck.faults.size(), 1u);
  EXPECT_EQ(stuck.faults[0].kind, device::FaultKind::timeout);
  EXPECT_EQ(stuck.faults[0].kernel, "add");
  EXPECT_NE(stuck.faults[0].message.find("METALLOID_TIMEOUT"), std::string::npos) << stuck.faults[0].message;
  device::CommandList later;
  add_to(*values, 1, *add, later);
  outcomes[0] = submit(*other, std::move(later));
  for (auto& outcome : outcomes) {
    const device::Outcome refused = outcome.get();
    ASSERT_EQ(refused.faults.size(), 1u);
    EXPECT_EQ(refused.faults[0].kind, device::FaultKind::device_removed);
    EXPECT_NE(refused.faults[0].message.find("a kernel that does not end"), std::string::npos);
  }
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
