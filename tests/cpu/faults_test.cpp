// Kernels that go wrong fail their own submission with a message; the device goes on working.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "run_kernel.hpp"

// The sanitizers would end the program in their own way, where these tests look for the system's.
constexpr const char* leave_signals = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
extern "C" const char* __asan_default_options() {
  return leave_signals;
}
extern "C" const char* __tsan_default_options() {
  return leave_signals;
}

namespace metalloid::cpu {
namespace {

// Read when the first kernel runs.
const bool short_timeout = setenv("METALLOID_TIMEOUT", "2", 1) == 0;

Kernel& good_kernel() {
  static Kernel kernel("kernel void f(device int* out, uint i [[thread_position_in_grid]]) { out[i] = i; }");
  return kernel;
}

void expect_device_works() {
  std::vector<int> out(1000);
  EXPECT_EQ(good_kernel().run({{1000, 1, 1}, {64, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(out[999], 999);
}

device::Fault fault_of(Kernel& kernel, const Launch& launch) {
  EXPECT_TRUE(kernel.pipeline) << kernel.error;
  if (!kernel.pipeline) return {};
  device::CommandList list;
  list.commands.push_back(device::BeginGroup{"my encoder", "compute encoder"});
  list.commands.push_back(kernel.dispatch(launch, list));
  list.commands.push_back(device::EndGroup{});
  device::Outcome outcome = kernel.carry_out(std::move(list));
  EXPECT_EQ(outcome.faults.size(), 1u);
  return outcome.faults.empty() ? device::Fault{} : outcome.faults.front();
}

TEST(Faults, BadAddressesAreReportedWithKernelAndPlace) {
  Kernel kernel(R"(
    kernel void broken(device int* out, uint i [[thread_position_in_grid]]) { if (i == 70) out[i] = 1; })",
                {}, "broken");
  const device::Fault fault = fault_of(kernel, {{128, 1, 1}, {32, 1, 1}, {device::Argument{0x1000, 4}}});
  EXPECT_EQ(fault.kind, device::FaultKind::page_fault);
  EXPECT_EQ(fault.kernel, "broken");
  EXPECT_EQ(fault.encoder_label, "my encoder");
  EXPECT_EQ(fault.message, "kernel 'broken' accessed invalid memory at address 0x1118 in threadgroup (2, 0, 0)");
  expect_device_works();
}

TEST(Faults, OfPointersThatAreNoAddressesDoNotInventOne) {
  Kernel kernel("kernel void broken(device int* out) { *out = 1; }", {}, "broken");
  const device::Fault fault = fault_of(kernel, {{1, 1, 1}, {1, 1, 1}, {device::Argument{0x1234567890abcdf0, 4}}});
  EXPECT_EQ(fault.kind, device::FaultKind::page_fault);
  EXPECT_EQ(fault.message.find("0x0"), std::string::npos) << fault.message;
  expect_device_works();
}

TEST(Faults, InSimdFunctionsAndAmongWaitingThreadsAbandonAll) {
  Kernel kernel(R"(
    kernel void f(device float* out, device const float* bad, uint l [[thread_index_in_threadgroup]]) {
      float x = simd_sum(out[l]);
      if (l == 150) x += bad[0];
      threadgroup_barrier(mem_flags::mem_device);
      simdgroup_float8x8 m;
      if (l < 32) simdgroup_load(m, bad, 8);
      out[l] = x + m.thread_elements()[0];
    })");
  for (int i = 0; i < 20; ++i) {
    std::vector<float> out(200);
    const device::Fault fault = fault_of(kernel, {{200, 1, 1}, {200, 1, 1}, {buffer(out), device::Argument{64, 4}}});
    EXPECT_EQ(fault.kind, device::FaultKind::page_fault);
  }
  Kernel matrix(R"(
    kernel void f(device float* out, device const float* bad, uint l [[thread_index_in_threadgroup]]) {
      simdgroup_float8x8 m;
      simdgroup_load(m, bad, 8);
      out[l] = m.thread_elements()[0];
    })");
  std::vector<float> out(32);
  EXPECT_EQ(fault_of(matrix, {{32, 1, 1}, {32, 1, 1}, {buffer(out), device::Argument{64, 4}}}).kind,
            device::FaultKind::page_fault);
  expect_device_works();
}

TEST(Faults, OutsideOfThreadgroupMemoryHarmNobody) {
  Kernel kernel(R"(
    kernel void f(device int* out, device const long& place) {
      threadgroup int shared[64];
      shared[place] = 1;
      *out = shared[place];
    })");
  std::vector<int> out(1);
  for (const int64_t place : {int64_t{-20'000}, int64_t{40'000}}) {
    const device::Fault fault = fault_of(kernel, {{1, 1, 1}, {1, 1, 1}, {buffer(out), bytes(place)}});
    EXPECT_EQ(fault.kind, device::FaultKind::page_fault) << place;
    expect_device_works();
  }
}

TEST(Faults, EndlessRecursionOverflowsTheStack) {
  Kernel kernel(R"(
    [[gnu::noinline]] int deeper(int n, device int* out) { out[n & 7] = n; return deeper(n + 1, out) + out[n & 3]; }
    kernel void f(device int* out) { out[0] = deeper(0, out); })");
  std::vector<int> out(8);
  const device::Fault fault = fault_of(kernel, {{1, 1, 1}, {1, 1, 1}, {buffer(out)}});
  EXPECT_EQ(fault.kind, device::FaultKind::stack_overflow) << fault.message;
  expect_device_works();
}

TEST(Faults, RecursionThatMeetsOnEveryLevelIsBounded) {
  Kernel kernel(R"(
    uint deeper(uint n) { return n == 0 ? 0 : deeper(n - 1) + simd_sum(1u); }
    kernel void f(device uint* out, constant uint& n) { out[0] = deeper(n); })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> out(1);
  const uint32_t few = 50, many = 5000;
  EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(out), bytes(few)}}), "");
  EXPECT_EQ(out[0], few);
  EXPECT_EQ(fault_of(kernel, {{1, 1, 1}, {1, 1, 1}, {buffer(out), bytes(many)}}).kind,
            device::FaultKind::stack_overflow);
  expect_device_works();
}

TEST(Faults, KernelsThatNeverEndAreStopped) {
  ASSERT_TRUE(short_timeout);
  Kernel plain("kernel void f(device volatile int* out) { while (out[0] == 0) {} out[1] = 1; }");
  Kernel empty("kernel void f(device int* out) { while (true) {} out[1] = 1; }");
  Kernel waiting(R"(
    kernel void f(device int* out, uint l [[thread_index_in_threadgroup]]) {
      while (simd_any(out[0] == 0)) {}
      out[1] = 1;
    })");
  for (Kernel* kernel : {&plain, &empty, &waiting}) {
    std::vector<int> out(2);
    const device::Fault fault = fault_of(*kernel, {{64, 1, 1}, {64, 1, 1}, {buffer(out)}});
    EXPECT_EQ(fault.kind, device::FaultKind::timeout) << fault.message;
    EXPECT_EQ(out[1], 0);
    expect_device_works();
  }
}

TEST(Faults, EndEvenTheLargestGridAtOnce) {
  Kernel kernel("kernel void f(device int* out) { out[0] = 1; }");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NE(kernel.run({{UINT32_MAX, 1024, 1}, {1, 1, 1}, {device::Argument{16, 4}}}), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  expect_device_works();
}

TEST(Faults, EndTheirSubmissionButSignalItsEvents) {
  Kernel broken("kernel void f(device int* out) { out[0] = 1; }");
  ASSERT_TRUE(broken.pipeline && good_kernel().pipeline);
  std::vector<int> out(4, -1), filled(4, -1);
  auto event = std::make_shared<device::Event>();
  device::CommandList list;
  list.commands.push_back(broken.dispatch({{1, 1, 1}, {1, 1, 1}, {device::Argument{16, 4}}}, list));
  list.commands.push_back(good_kernel().dispatch({{4, 1, 1}, {4, 1, 1}, {buffer(out)}}, list));
  list.commands.push_back(device::Fill{reinterpret_cast<uint64_t>(filled.data()), 16, 0});
  list.commands.push_back(device::SignalEvent{event, 5});
  EXPECT_EQ(broken.carry_out(std::move(list)).faults.size(), 1u);
  EXPECT_EQ(out, std::vector<int>(4, -1));
  EXPECT_EQ(filled, std::vector<int>(4, -1));
  EXPECT_EQ(event->value(), 5u);
  expect_device_works();
}

[[noreturn]] void fail_with_all_signals_blocked() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  Kernel broken("kernel void f(device int* out) { out[0] = 1; }");
  Kernel endless("kernel void f(device volatile int* out) { while (out[0] == 0) {} }");
  std::vector<int> out(1);
  const auto first = fault_of(broken, {{1, 1, 1}, {1, 1, 1}, {device::Argument{16, 4}}}).kind;
  const auto second = fault_of(endless, {{1, 1, 1}, {1, 1, 1}, {buffer(out)}}).kind;
  _exit(first == device::FaultKind::page_fault && second == device::FaultKind::timeout ? 7 : 1);
}

TEST(FaultsDeathTest, OfKernelsAreCaughtThoughTheProgramBlocksAllSignals) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(fail_with_all_signals_blocked(), testing::ExitedWithCode(7), "");
}

[[noreturn]] void stop_many_times() {
  setenv("METALLOID_TIMEOUT", "0.01", 1);
  Kernel turns(R"(
    kernel void f(device atomic_uint* flag) {
      while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {}
    })");
  Kernel barriers(R"(
    kernel void f(device uint* out, uint l [[thread_index_in_threadgroup]]) {
      threadgroup uint shared[256];
      shared[l] = 0;
      do {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        out[l] = shared[255 - l];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        shared[l] = out[l];
      } while (shared[l] == 0);
    })");
  std::vector<uint32_t> out(256);
  for (int round = 0; round < 20; ++round)
    for (Kernel* kernel : {&turns, &barriers})
      if (fault_of(*kernel, {{256, 1, 1}, {256, 1, 1}, {buffer(out)}}).kind != device::FaultKind::timeout) _exit(1);
  _exit(7);
}

TEST(FaultsDeathTest, KernelsCanBeStoppedWhereverTheyAre) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(stop_many_times(), testing::ExitedWithCode(7), "");
}

TEST(FaultsDeathTest, OfTheProgramItselfStillEndIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        expect_device_works();
        *reinterpret_cast<volatile int*>(8) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(FaultsDeathTest, SignalsThatAreSentEndTheProgramAsWell) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const int number : {SIGSEGV, SIGFPE})
    EXPECT_EXIT(
        {
          expect_device_works();
          raise(number);
          _exit(0);
        },
        testing::KilledBySignal(number), "");
}

TEST(FaultsDeathTest, OfTheProgramEndItEvenIfItIgnoresThem) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_IGN);
        expect_device_works();
        alarm(10);
        *reinterpret_cast<volatile int*>(8) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(FaultsDeathTest, OfTheProgramGoToItsOwnHandler) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        signal(SIGSEGV, [](int) { _exit(7); });
        expect_device_works();
        *reinterpret_cast<volatile int*>(8) = 1;
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace metalloid::cpu
