// Queues: every kind of command, in order, from several threads.
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

const char* increment = R"(
    kernel void f(device int* out, constant int& by, uint i [[thread_position_in_grid]]) { out[i] += by; })";

TEST(Queues, CarryOutEveryKindOfCommandInOrder) {
  Kernel kernel(increment);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> a(64, 5), b(64), c(64);
  const int by = 3;
  auto address = [](auto& values) { return reinterpret_cast<uint64_t>(values.data()); };
  auto event = std::make_shared<device::Event>();
  uint64_t before = 0, after = 0;
  int seen = 0;
  device::CommandList list;
  list.commands.push_back(device::Timestamp{&before});
  list.commands.push_back(device::Fill{address(a), 256, 0});
  list.commands.push_back(kernel.dispatch({{64, 1, 1}, {16, 1, 1}, {buffer(a), bytes(by)}}, list));
  list.commands.push_back(device::Copy{address(a), address(b), 256});
  list.commands.push_back(device::SignalEvent{event, 1});
  list.commands.push_back(device::WaitEvent{event, 1});
  list.commands.push_back(device::HostWork{[&] { seen = b[63]; }});
  list.commands.push_back(device::Deferred{[&](device::CommandList& more) {
    more.commands.push_back(kernel.dispatch({{64, 1, 1}, {64, 1, 1}, {buffer(b), bytes(by)}}, more));
  }});
  // Two rows of two values, from columns 1 and 2 of rows of four.
  list.commands.push_back(device::Copy{address(b) + 4, address(c), 8, 2, 1, 16, 0, 8, 0});
  list.commands.push_back(device::Timestamp{&after});
  const device::Outcome outcome = kernel.carry_out(std::move(list));
  EXPECT_TRUE(outcome.faults.empty());
  EXPECT_EQ(a, std::vector<int>(64, 3));
  EXPECT_EQ(b, std::vector<int>(64, 6));
  EXPECT_EQ((std::vector<int>(c.begin(), c.begin() + 5)), (std::vector<int>{6, 6, 6, 6, 0}));
  EXPECT_EQ(seen, 3);
  EXPECT_LE(outcome.span().started, before);
  EXPECT_LT(before, after);
  EXPECT_LE(after, outcome.span().ended);
}

TEST(Queues, CallWorkOfLibrariesAtItsTurn) {
  Kernel kernel(increment);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> values(64);
  const int by = 3;
  device::CommandList list;
  const auto add = [&] {
    list.commands.push_back(kernel.dispatch({{64, 1, 1}, {16, 1, 1}, {buffer(values), bytes(by)}}, list));
  };
  add();
  list.commands.push_back(device::LibraryWork{"doubling", {}, [&](device::LibraryStream* stream) {
                                                EXPECT_EQ(stream, nullptr);
                                                for (int& value : values) value *= 2;
                                                return success();
                                              }});
  add();
  EXPECT_TRUE(kernel.carry_out(std::move(list)).faults.empty());
  EXPECT_EQ(values, std::vector<int>(64, 9));
}

TEST(Queues, EndASubmissionWhoseLibraryFails) {
  Kernel kernel(increment);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  const std::function<Status(device::LibraryStream*)> failures[] = {
      [](device::LibraryStream*) -> Status { return Error{"no room for the product"}; },
      [](device::LibraryStream*) -> Status { throw std::runtime_error("no room for the product"); }};
  for (const auto& failure : failures) {
    std::vector<int> values(64);
    const int by = 3;
    device::CommandList list;
    list.commands.push_back(device::BeginGroup{"layer 7", "compute encoder"});
    list.commands.push_back(device::LibraryWork{"product", {}, failure});
    list.commands.push_back(kernel.dispatch({{64, 1, 1}, {16, 1, 1}, {buffer(values), bytes(by)}}, list));
    const device::Outcome outcome = kernel.carry_out(std::move(list));
    ASSERT_EQ(outcome.faults.size(), 1u);
    EXPECT_EQ(outcome.faults[0].message, "no room for the product");
    EXPECT_EQ(outcome.faults[0].encoder_label, "layer 7");
    EXPECT_EQ(values, std::vector<int>(64, 0));
  }
}

TEST(Queues, TakeTheSizeOfAnIndirectDispatchFromMemory) {
  Kernel kernel(increment);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(64);
  std::vector<uint32_t> threadgroups(3);
  const int by = 1;
  device::CommandList list;
  list.commands.push_back(device::HostWork{[&] { threadgroups = {3, 1, 1}; }});
  auto dispatch = kernel.dispatch({{0, 0, 0}, {16, 1, 1}, {buffer(out), bytes(by)}}, list);
  dispatch.indirect_threadgroups = reinterpret_cast<uint64_t>(threadgroups.data());
  list.commands.push_back(dispatch);
  EXPECT_TRUE(kernel.carry_out(std::move(list)).faults.empty());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 48);
}

TEST(Queues, RefuseAnIndirectDispatchOfMoreThreadsThanPositionsCanSay) {
  Kernel kernel(increment);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(64);
  const int by = 1;
  const auto faults_of = [&](std::vector<uint32_t> threadgroups) {
    device::CommandList list;
    auto dispatch = kernel.dispatch({{0, 0, 0}, {16, 1, 1}, {buffer(out), bytes(by)}}, list);
    dispatch.indirect_threadgroups = reinterpret_cast<uint64_t>(threadgroups.data());
    list.commands.push_back(dispatch);
    return kernel.carry_out(std::move(list)).faults;
  };
  for (const uint32_t threadgroups : {1u << 28, (1u << 28) + 1, UINT32_MAX}) {
    const auto faults = faults_of({threadgroups, 1, 1});
    ASSERT_EQ(faults.size(), 1u) << threadgroups;
    EXPECT_EQ(faults[0].kind, device::FaultKind::invalid_resource);
    EXPECT_NE(faults[0].message.find("2^32 - 1"), std::string::npos) << faults[0].message;
  }
  EXPECT_TRUE(faults_of({0, 1, 1}).empty());
  EXPECT_TRUE(faults_of({UINT32_MAX, 1, 0}).empty());
  EXPECT_EQ(out, std::vector<int>(64));
}

TEST(Queues, NameTheEncoderOfAFaultThoughGroupsAreAroundIt) {
  Kernel broken("kernel void f(device int* out) { out[0] = 1; }");
  ASSERT_TRUE(broken.pipeline) << broken.error;
  device::CommandList list;
  list.commands.push_back(device::BeginGroup{"frame", nullptr});
  list.commands.push_back(device::BeginGroup{"blur", "compute encoder"});
  list.commands.push_back(device::BeginGroup{"rows", nullptr});
  list.commands.push_back(broken.dispatch({{1, 1, 1}, {1, 1, 1}, {device::Argument{16, 4}}}, list));
  const device::Outcome outcome = broken.carry_out(std::move(list));
  ASSERT_EQ(outcome.faults.size(), 1u);
  EXPECT_EQ(outcome.faults[0].encoder_label, "blur");
}

TEST(Queues, CopyAndFillNothingWithoutTouchingMemory) {
  Kernel kernel(increment);
  device::CommandList list;
  list.commands.push_back(device::Copy{});
  list.commands.push_back(device::Copy{.row_bytes = 0, .rows = 5, .images = 5});
  list.commands.push_back(device::Copy{.row_bytes = 8, .rows = 0});
  list.commands.push_back(device::Fill{});
  EXPECT_TRUE(kernel.carry_out(std::move(list)).faults.empty());
}

TEST(Queues, ShowCommandsToAnObserver) {
  struct Counter final : device::Observer {
    void carried_out(const device::Command& command, uint64_t started, uint64_t ended) override {
      kinds.push_back(command.index());
      EXPECT_LE(started, ended);
    }
    std::vector<size_t> kinds;
  };
  auto counter = std::make_shared<Counter>();
  std::promise<void> scheduled, done;
  auto submission = std::make_unique<device::Submission>();
  submission->observer = counter;
  submission->list.commands = {device::BeginGroup{"g"}, device::HostWork{[] {}}, device::EndGroup{}};
  submission->log = [](const device::Log&) {};
  submission->scheduled = [&] { scheduled.set_value(); };
  submission->completed = [&](const device::Outcome&) { done.set_value(); };
  auto queue = shared_device().make_queue();
  queue->submit(std::move(submission));
  scheduled.get_future().get();
  done.get_future().get();
  EXPECT_EQ(counter->kinds, (std::vector<size_t>{9, 6, 10}));
}

TEST(Queues, OfSeveralThreadsDoNotDisturbEachOther) {
  Kernel kernel(R"(
    kernel void f(device int* out, constant int& by, uint i [[thread_position_in_grid]],
                  uint l [[thread_index_in_threadgroup]]) {
      threadgroup int ours[64];
      ours[l] = out[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[i] = ours[l ^ 1] + simd_sum(by) / 32;
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  constexpr int threads = 4, rounds = 200;
  std::atomic<int> completed = 0;
  std::vector<std::vector<int>> values(threads, std::vector<int>(1024));
  std::vector<std::thread> hosts;
  for (int t = 0; t < threads; ++t)
    hosts.emplace_back([&, t] {
      auto queue = shared_device().make_queue();
      static const int one = 1;
      for (int round = 0; round < rounds; ++round) {
        auto submission = std::make_unique<device::Submission>();
        submission->list.commands.push_back(
            kernel.dispatch({{1024, 1, 1}, {64, 1, 1}, {buffer(values[t]), bytes(one)}}, submission->list));
        submission->log = [](const device::Log&) {};
        submission->completed = [&](const device::Outcome& outcome) { completed += outcome.faults.empty(); };
        queue->submit(std::move(submission));
      }
    });
  for (auto& host : hosts) host.join();
  EXPECT_EQ(completed, threads * rounds) << "a queue waits for what was submitted";
  for (const auto& each : values) EXPECT_EQ(each, std::vector<int>(1024, rounds));
}

TEST(Queues, WaitForEventsOfEachOther) {
  auto event = std::make_shared<device::Event>();
  auto first = shared_device().make_queue(), second = shared_device().make_queue();
  std::vector<int> order;
  auto submit = [&](device::Queue& queue, std::vector<device::Command> commands) {
    auto submission = std::make_unique<device::Submission>();
    submission->list.commands = std::move(commands);
    submission->log = [](const device::Log&) {};
    submission->completed = [](const device::Outcome&) {};
    queue.submit(std::move(submission));
  };
  submit(*first, {device::WaitEvent{event, 2}, device::HostWork{[&] { order.push_back(2); }}});
  submit(*second, {device::HostWork{[&] { order.push_back(1); }}, device::SignalEvent{event, 2}});
  first.reset();
  second.reset();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Queues, RunManyDispatchesOfOneSubmission) {
  Kernel kernel(increment);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(33);
  const int by = 1;
  device::CommandList list;
  for (int i = 0; i < 20000; ++i)
    list.commands.push_back(kernel.dispatch({{33, 1, 1}, {32, 1, 1}, {buffer(out), bytes(by)}}, list));
  EXPECT_TRUE(kernel.carry_out(std::move(list)).faults.empty());
  EXPECT_EQ(out, std::vector<int>(33, 20000));
}

// Submits, and lends this thread until it is done.
void submit_and_wait(device::Queue& queue, std::unique_ptr<device::Submission> submission) {
  std::atomic<bool> is_done = false;
  submission->log = [](const device::Log&) {};
  submission->completed = [&, completed = std::move(submission->completed)](const device::Outcome& outcome) {
    if (completed) completed(outcome);
    is_done = true;
  };
  queue.submit(std::move(submission));
  queue.lend_thread([&] { return is_done.load(); });
  while (!is_done) std::this_thread::yield();
}

TEST(Queues, UseAThreadThatWaitsForThemUnlessTheyCallTheProgram) {
  auto queue = shared_device().make_queue();
  int here = 0;
  std::vector<int> order, expected;
  for (int i = 0; i < 500; ++i) {
    if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the queue's thread sleeps
    auto submission = std::make_unique<device::Submission>();
    submission->calls_program = i % 3 == 0;
    submission->list.commands.push_back(device::HostWork{[&, i, lender = std::this_thread::get_id()] {
      order.push_back(i);
      const bool is_here = std::this_thread::get_id() == lender;
      here += is_here;
      EXPECT_FALSE(is_here && i % 3 == 0);
    }});
    expected.push_back(i);
    submit_and_wait(*queue, std::move(submission));
  }
  EXPECT_GT(here, 0);
  EXPECT_EQ(order, expected);
}

TEST(Queues, KeepTheirOrderWhoeverRunsThem) {
  auto queue = shared_device().make_queue();
  std::vector<int> order, expected;  // not guarded: one at a time runs
  for (int round = 0; round < 200; ++round) {
    const int first = static_cast<int>(expected.size());
    for (int i = first; i < first + 5; ++i) {
      auto submission = std::make_unique<device::Submission>();
      submission->calls_program = i % 4 == 0;
      submission->list.commands.push_back(device::HostWork{[&order, i] { order.push_back(i); }});
      expected.push_back(i);
      if (i == first + 4) {
        submit_and_wait(*queue, std::move(submission));
      } else {
        submission->log = [](const device::Log&) {};
        submission->completed = [](const device::Outcome&) {};
        queue->submit(std::move(submission));
      }
    }
    EXPECT_EQ(order, expected);
  }
}

TEST(Queues, AreWorkedOnBySeveralThreadsThatWait) {
  Kernel kernel(increment);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  constexpr int threads = 4, rounds = 300;
  const int by = 1;
  std::vector<int> shared(100'000);  // in turns, since a queue runs one submission at a time
  auto queue = shared_device().make_queue();
  std::vector<std::thread> hosts;
  for (int t = 0; t < threads; ++t)
    hosts.emplace_back([&, t] {
      for (int round = 0; round < rounds; ++round) {
        auto submission = std::make_unique<device::Submission>();
        submission->calls_program = (round + t) % 5 == 0;
        device::CommandList& list = submission->list;
        list.commands.push_back(kernel.dispatch({{100'000, 1, 1}, {256, 1, 1}, {buffer(shared), bytes(by)}}, list));
        submit_and_wait(*queue, std::move(submission));
      }
    });
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(shared, std::vector<int>(100'000, threads * rounds));
}

TEST(Queues, DoNotUseThreadsWithLittleRoomOnTheirStacks) {
  const auto body = [](void*) -> void* {
    auto queue = shared_device().make_queue();
    for (int i = 0; i < 50; ++i) {
      auto submission = std::make_unique<device::Submission>();
      submission->calls_program = false;
      submission->list.commands.push_back(
          device::HostWork{[waiting = std::this_thread::get_id()] { EXPECT_NE(std::this_thread::get_id(), waiting); }});
      submit_and_wait(*queue, std::move(submission));
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 384 << 10);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, body, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Queues, LeaveAThreadThatWasLentAsItWas) {
  Kernel broken("kernel void f(device int* out) { out[0] = 1; }");
  ASSERT_TRUE(broken.pipeline) << broken.error;
  Kernel divides("kernel void f(device float* out) { out[1] = out[0] / 3; }");
  ASSERT_TRUE(divides.pipeline) << divides.error;
  std::thread([&] {
    sigset_t blocked, found;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGURG);
    sigaddset(&blocked, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    std::fesetround(FE_UPWARD);
    auto queue = shared_device().make_queue();
    bool was_here = false;
    for (int i = 0; i < 1000 && !was_here; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::vector<float> numbers = {1, 0};
      size_t faults = 0;
      auto submission = std::make_unique<device::Submission>();
      device::CommandList& list = submission->list;
      list.commands.push_back(device::HostWork{
          [&, lender = std::this_thread::get_id()] { was_here = std::this_thread::get_id() == lender; }});
      list.commands.push_back(divides.dispatch({{1, 1, 1}, {1, 1, 1}, {buffer(numbers)}}, list));
      list.commands.push_back(broken.dispatch({{1, 1, 1}, {1, 1, 1}, {device::Argument{16, 4}}}, list));
      submission->calls_program = false;
      submission->completed = [&](const device::Outcome& outcome) { faults = outcome.faults.size(); };
      submit_and_wait(*queue, std::move(submission));
      EXPECT_EQ(faults, 1u);
      EXPECT_EQ(numbers[1], 0x1.555556p-2f) << "rounded to the nearest";
    }
    EXPECT_TRUE(was_here);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    pthread_sigmask(SIG_BLOCK, nullptr, &found);
    EXPECT_TRUE(sigismember(&found, SIGURG) && sigismember(&found, SIGSEGV));
  }).join();
}

TEST(Device, DescribesItself) {
  const device::Info& info = shared_device().info();
  EXPECT_TRUE(info.name.starts_with("Metalloid CPU (")) << info.name;
  EXPECT_FALSE(info.architecture.empty());
  EXPECT_EQ(info.max_threads_per_threadgroup, 1024u);
  EXPECT_EQ(info.max_threadgroup_memory, 32768u);
  EXPECT_GT(info.recommended_working_set, 0u);
  const uint64_t before = shared_device().clock();
  EXPECT_LE(before, shared_device().clock());
}

}  // namespace
}  // namespace metalloid::cpu
