#include "cpu/faults.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "cpu/clock.hpp"
#include "cpu/sanitizers.hpp"

namespace metalloid::cpu {

namespace {

// Ignored unless someone handles it. The thread sanitizer would keep it back until the kernel calls something: it
// delivers at once only those that tell of faults.
#ifdef METALLOID_THREAD_SANITIZER
constexpr int interrupt_signal = SIGTRAP;
#else
constexpr int interrupt_signal = SIGURG;
#endif
constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// Read in signal handlers, so it must not be allocated on first use.
__attribute__((tls_model("initial-exec"))) thread_local KernelThread* this_thread = nullptr;

struct sigaction previous_actions[NSIG];

// Nanoseconds; 0 is for ever.
uint64_t timeout(double default_seconds) {
  const char* seconds = std::getenv("METALLOID_TIMEOUT");
  const double value = seconds && *seconds ? std::strtod(seconds, nullptr) : default_seconds;
  return value > 0 ? static_cast<uint64_t>(value * 1e9) : 0;
}

// Threads begin with the signals blocked that the thread which made them has blocked.
void unblock_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : fault_signals) sigaddset(&signals, number);
  sigaddset(&signals, interrupt_signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void pass_on(int number, siginfo_t* info, void* context) {
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

}  // namespace

struct SignalHandler {
  static void handle(int number, siginfo_t* info, void* context) {
    KernelThread* thread = this_thread;
    if (number == interrupt_signal) {
      if (!thread || !thread->is_interrupted()) return pass_on(number, info, context);
      if (thread->in_kernel_) leave(*thread, {device::FaultKind::timeout}, context);
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
  // sanitizer calls it with all of them blocked.
  [[noreturn]] static void leave(KernelThread& thread, const FaultCause& cause, void* context) {
    pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    thread.fail(cause);
  }
};

// Looks at every thread that runs kernels some times per timeout. A threadgroup that is in the same turn for longer
// than that is interrupted.
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
    if (!is_running || turn != thread.seen_turn_) {
      thread.seen_turn_ = turn;
      thread.seen_since_ = now();
    } else if (now() - thread.seen_since_ > (thread.is_validating_ ? validating_timeout_ : timeout_)) {
      thread.interrupted_turn_.store(turn, std::memory_order_relaxed);
      pthread_kill(thread.thread_, interrupt_signal);
    }
  }

  const uint64_t timeout_ = timeout(60), validating_timeout_ = timeout(10);
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

void install_fault_handlers() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action = {};
    action.sa_sigaction = SignalHandler::handle;
    // A handler that leaves for good unblocks nothing and frees no signal stack: the signal must not be blocked in it.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int number : fault_signals) sigaction(number, &action, &previous_actions[number]);
    sigaction(interrupt_signal, &action, &previous_actions[interrupt_signal]);
  });
}

}  // namespace metalloid::cpu
