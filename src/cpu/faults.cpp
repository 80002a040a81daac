#include "cpu/faults.hpp"

#include <dlfcn.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "device/time_limit.hpp"

#ifdef METALLOID_THREAD_SANITIZER
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*) noexcept;  // the C library's own
#endif

namespace metalloid::cpu {

namespace {

constexpr int interrupt_signal = SIGURG;  // ignored unless someone handles it
constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// Read in signal handlers, so it must not be allocated on first use.
__attribute__((tls_model("initial-exec"))) thread_local KernelThread* this_thread = nullptr;

struct sigaction previous_actions[NSIG];

// Threads begin with the signals blocked that the thread which made them has blocked. Returns what was blocked.
sigset_t unblock_signals() {
  sigset_t signals, before;
  sigemptyset(&signals);
  for (int number : fault_signals) sigaddset(&signals, number);
  sigaddset(&signals, interrupt_signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, &before);
  return before;
}

METALLOID_UNSANITIZED void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction& previous = previous_actions[number];
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(number, info, context);
  const bool is_sent = info->si_code <= 0;  // by a program, rather than met by an instruction
  if (previous.sa_handler == SIG_IGN && (is_sent || number == interrupt_signal)) return;
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(number);
  if (number == interrupt_signal) return;
  // The default action, which the instruction meets when it is tried again; a fault cannot be ignored.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  if (is_sent) raise(number);
}

// Whether the kernel can be left from where it was interrupted. Nobody may leave the thread sanitizer half-way, and all
// code calls that but the kernel's own, which is in no file; the functions that a kernel calls see at their end that
// they were interrupted.
METALLOID_UNSANITIZED bool can_be_left([[maybe_unused]] const void* context) {
#ifdef METALLOID_THREAD_SANITIZER
  const mcontext_t& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto place = static_cast<uintptr_t>(registers.gregs[REG_RIP]);
#else
  const auto place = static_cast<uintptr_t>(registers.pc);
#endif
  dl_find_object file;
  return _dl_find_object(reinterpret_cast<void*>(place), &file) != 0;
#else
  return true;
#endif
}

}  // namespace

struct SignalHandler {
  METALLOID_UNSANITIZED static void handle(int number, siginfo_t* info, void* context) {
    KernelThread* thread = this_thread;
    if (number == interrupt_signal) {
      if (!thread || !thread->is_interrupted()) return pass_on(number, info, context);
      if (thread->in_kernel_ && can_be_left(context)) leave(*thread, {device::FaultKind::timeout}, context);
      return;  // the runtime's function sees it when it is done
    }
    if (!thread || !thread->in_kernel_) return pass_on(number, info, context);
    const bool is_memory = number == SIGSEGV || number == SIGBUS;
    // Of an address that no program can have (its upper bits are wrong), the system tells nothing.
    const bool has_address = is_memory && info->si_code != SI_KERNEL;
    leave(*thread,
          {.kind = is_memory ? device::FaultKind::page_fault : device::FaultKind::internal,
           .has_address = has_address,
           .address = reinterpret_cast<uint64_t>(info->si_addr),
           .is_division = number == SIGFPE},
          context);
  }

  // For good: nobody else gives back the signals that are blocked while it runs. They are none, but the thread
  // sanitizer calls it for faults with all of them blocked.
  [[noreturn]] static void leave(KernelThread& thread, const FaultCause& cause, void* context) {
    pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    thread.fail(cause);
  }
};

// Looks at every thread that runs kernels some times per timeout. A threadgroup that the processor spent more time on
// than that is interrupted: where others use the processor too, a kernel does not run for longer, it only waits.
class Watchdog {
 public:
  static Watchdog& shared() {
    static Watchdog& watchdog = *new Watchdog;  // threads that run kernels may end after main does
    return watchdog;
  }

  void add(KernelThread& thread) {
    std::lock_guard lock(mutex_);
    threads_.push_back(&thread);
    if (timeout_ && !started_) {
      started_ = true;
      std::thread([this] { watch(); }).detach();
    }
  }

  void remove(KernelThread& thread) {
    std::lock_guard lock(mutex_);
    std::erase(threads_, &thread);
  }

 private:
  void watch() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    const auto period = std::chrono::nanoseconds(std::max<uint64_t>(validating_timeout_ / 8, 1'000'000));
    for (;;) {
      std::this_thread::sleep_for(period);
      std::lock_guard lock(mutex_);
      for (KernelThread* thread : threads_) look_at(*thread);
    }
  }

  void look_at(KernelThread& thread) const {
    const uint64_t turn = thread.turn_.load(std::memory_order_relaxed);
    const bool is_running = turn % 2 == 1;
    timespec spent = {};
    clock_gettime(thread.clock_, &spent);
    const uint64_t time = static_cast<uint64_t>(spent.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(spent.tv_nsec);
    if (!is_running || turn != thread.seen_turn_) {
      thread.seen_turn_ = turn;
      thread.seen_since_ = time;
    } else if (time > thread.seen_since_ + (thread.is_validating_ ? validating_timeout_ : timeout_)) {
      thread.interrupted_turn_.store(turn, std::memory_order_relaxed);
      pthread_kill(thread.thread_, interrupt_signal);
    }
  }

  const uint64_t timeout_ = device::time_limit(60), validating_timeout_ = device::time_limit(10);
  std::mutex mutex_;
  std::vector<KernelThread*> threads_;
  bool started_ = false;
};

constexpr size_t signal_stack_size = 64 << 10;

KernelThread& KernelThread::of_this_thread() {
  thread_local KernelThread thread;
  return thread;
}

KernelThread::KernelThread() : thread_(pthread_self()) {
  install_fault_handlers();
  pthread_getcpuclockid(thread_, &clock_);
  signal_stack_ = std::make_unique<std::byte[]>(signal_stack_size);
  stack_t stack = {};
  stack.ss_sp = signal_stack_.get();
  stack.ss_size = signal_stack_size;
  sigaltstack(&stack, &previous_signal_stack_);
  unblock_signals();
  this_thread = this;
  Watchdog::shared().add(*this);
}

KernelThread::~KernelThread() {
  Watchdog::shared().remove(*this);
  this_thread = nullptr;
  sigaltstack(&previous_signal_stack_, nullptr);
}

void KernelThread::forget_handler() {
  forget_frames(signal_stack_.get(), signal_stack_size);
}

void KernelThread::fail(const FaultCause& cause) {
  leave_kernel();
  leave_(cause);
  __builtin_unreachable();
}

BorrowedThread::BorrowedThread() : blocked_signals_(unblock_signals()) {
  std::fegetenv(&arithmetic_);
  std::fesetenv(FE_DFL_ENV);
}

BorrowedThread::~BorrowedThread() {
  std::fesetenv(&arithmetic_);
  pthread_sigmask(SIG_SETMASK, &blocked_signals_, nullptr);
}

void install_fault_handlers() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action = {};
    action.sa_sigaction = SignalHandler::handle;
    // A handler that leaves for good unblocks nothing and frees no signal stack: the signal must not be blocked in it.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int number : fault_signals) sigaction(number, &action, &previous_actions[number]);
    // The thread sanitizer would keep it back until the kernel calls something: it is not asked.
#ifdef METALLOID_THREAD_SANITIZER
    __sigaction(interrupt_signal, &action, &previous_actions[interrupt_signal]);
#else
    sigaction(interrupt_signal, &action, &previous_actions[interrupt_signal]);
#endif
  });
}

}  // namespace metalloid::cpu
