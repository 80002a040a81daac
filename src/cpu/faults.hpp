// What a kernel does wrong to the processor: bad addresses, overflowing stacks, never ending. Signal handlers tell
// kernels' faults from the program's own: a thread that is in a kernel's code leaves it through its KernelThread, every
// other signal goes to whoever handled it before. A watchdog interrupts threadgroups that run for too long.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <memory>

#include "cpu/sanitizers.hpp"
#include "device/device.hpp"

namespace metalloid::cpu {

struct ThreadState;

struct FaultCause {
  device::FaultKind kind = device::FaultKind::internal;
  bool has_address = false;
  uint64_t address = 0;
  const char* message = nullptr;  // if it was none of the processor's; the pipeline keeps it
  bool is_division = false;       // of integers, that the processor refused
};

// What signal handlers, the watchdog and the runtime's functions know of a thread of the host that runs kernels,
// whichever engine it does that with.
class KernelThread {
 public:
  static KernelThread& of_this_thread();
  KernelThread();
  ~KernelThread();
  KernelThread(const KernelThread&) = delete;
  KernelThread& operator=(const KernelThread&) = delete;

  // The engine at work abandons the kernel's code so, and never returns. It is called on the stack of a signal handler.
  using Leave = void (*)(const FaultCause&);
  void set_leave(Leave leave) { leave_ = leave; }

  // Whose code runs.
  ThreadState& current_thread() const { return *current_thread_; }
  void set_current_thread(ThreadState& thread) { current_thread_ = &thread; }

  // Under shader validation the watchdog is less patient, unless it was told how long to wait.
  void set_validating(bool validating) { is_validating_.store(validating, std::memory_order_relaxed); }

  void threadgroup_starts() { turn_.store(turn_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void threadgroup_ends() { threadgroup_starts(); }

  // Between these two, faults are the kernel's.
  void enter_kernel() {
    in_kernel_ = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_interrupted()) fail({device::FaultKind::timeout});
  }
  void leave_kernel() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    in_kernel_ = 0;
  }

  // The signal handler that a kernel was left from is not returned to.
  void forget_handler();

  // Leaves the kernel's code for good; called from the runtime's functions.
  [[noreturn]] void fail(const FaultCause& cause);

 private:
  friend class Watchdog;
  friend struct SignalHandler;

  METALLOID_UNSANITIZED bool is_interrupted() const {
    return interrupted_turn_.load(std::memory_order_relaxed) == turn_.load(std::memory_order_relaxed);
  }

  Leave leave_ = nullptr;
  ThreadState* current_thread_ = nullptr;
  volatile sig_atomic_t in_kernel_ = 0;
  std::atomic<uint64_t> turn_ = 0;  // odd while a threadgroup runs
  std::atomic<uint64_t> interrupted_turn_ = ~uint64_t{0};
  std::atomic<bool> is_validating_ = false;
  pthread_t thread_;
  clockid_t clock_;  // of the time that the processor spent on it
  std::unique_ptr<std::byte[]> signal_stack_;
  stack_t previous_signal_stack_ = {};
  uint64_t seen_turn_ = 0, seen_since_ = 0;  // the watchdog's
};

// While one of the runtime's functions runs for a kernel: nothing in it is interrupted half-way.
class NativeSection {
 public:
  explicit NativeSection(KernelThread& thread) : thread_(thread) { thread_.leave_kernel(); }
  ~NativeSection() { thread_.enter_kernel(); }

 private:
  KernelThread& thread_;
};

// While a thread of the program runs kernels: signals reach it and arithmetic is as kernels need it, and then both are
// as the program had them. Its signal stack stays ours.
class BorrowedThread {
 public:
  BorrowedThread();
  ~BorrowedThread();
  BorrowedThread(const BorrowedThread&) = delete;
  BorrowedThread& operator=(const BorrowedThread&) = delete;

 private:
  sigset_t blocked_signals_;
  std::fenv_t arithmetic_;
};

// Once for the process; threads that run kernels call it.
void install_fault_handlers();

}  // namespace metalloid::cpu
