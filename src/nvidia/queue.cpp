#include "nvidia/queue.hpp"

#include <algorithm>

#include "device/look_again.hpp"
#include "nvidia/clock.hpp"
#include "nvidia/patience.hpp"

namespace metalloid::nvidia {

namespace {

// Nothing in it takes long or has to wait.
bool is_short(const device::Submission& submission) {
  constexpr size_t most_commands = 16;
  const auto is_quick = [](const device::Command& command) {
    const auto* dispatch = std::get_if<device::Dispatch>(&command);
    return goes_with_launches(command) && (!dispatch || dispatch->indirect_threadgroups == 0);
  };
  const auto& commands = submission.list.commands;
  return !submission.calls_program && !submission.observer && commands.size() <= most_commands &&
         std::ranges::all_of(commands, is_quick);
}

}  // namespace

// The right to use the runner, if nobody else has it. A handler that submits has it on its own thread already, which is
// why this is no mutex.
class Queue::Turn {
 public:
  explicit Turn(Queue& queue) : queue_(queue), is_ours_(!queue.is_taken_.exchange(true, std::memory_order_acquire)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (!is_ours_) return;
    queue_.is_under_way_ = !queue_.runner_.is_idle();
    queue_.is_taken_.store(false, std::memory_order_release);
  }
  explicit operator bool() const { return is_ours_; }

 private:
  Queue& queue_;
  const bool is_ours_;
};

Queue::~Queue() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Queue::submit(std::unique_ptr<device::Submission> submission) {
  const bool is_under_way = run_here(submission);
  std::lock_guard lock(mutex_);
  if (!is_under_way) {
    waiting_.push_back(std::move(submission));
    waiting_count_.fetch_add(1, std::memory_order_release);
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  if (asleep_) arrived_.notify_one();
}

bool Queue::run_here(std::unique_ptr<device::Submission>& submission) {
  if (has_work() || !is_short(*submission)) return false;
  const Turn turn(*this);
  if (!turn || has_work()) return false;
  is_for_any_thread_ = true;
  runner_.run(std::move(submission));
  return true;
}

void Queue::look_out(const std::function<bool()>& is_reached) {
  ++threads_looking_out_;
  const uint64_t until = now() + lookout;
  for (uint64_t turns = 1; !is_reached() && now() < until; ++turns) {
    if (is_for_any_thread_ && is_under_way_)
      if (const Turn turn(*this); turn && is_for_any_thread_ && runner_.advance()) continue;
    device::look_again(turns);
  }
  --threads_looking_out_;
}

void Queue::work() {
  while (wait_for_work()) {
    for (Patience patience; has_work();) {
      if (do_what_is_due())
        patience = Patience();
      else if (patience.pause())
        look_for_faults();
    }
  }
}

bool Queue::do_what_is_due() {
  const bool others_do_it = is_for_any_thread_ && threads_looking_out_ != 0 && waiting_count_ == 0;
  if (others_do_it) return false;
  const Turn turn(*this);
  if (!turn) return false;
  auto next = take();
  if (!next) return runner_.advance();
  is_for_any_thread_ = false;
  runner_.run(std::move(next));
  return true;
}

void Queue::look_for_faults() {
  if (const Turn turn(*this); turn) runner_.look_for_faults();
}

std::unique_ptr<device::Submission> Queue::take() {
  if (waiting_count_.load(std::memory_order_acquire) == 0) return nullptr;
  std::lock_guard lock(mutex_);
  auto submission = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_count_.fetch_sub(1, std::memory_order_relaxed);
  return submission;
}

bool Queue::wait_for_work() {
  const uint64_t until = now() + lookout;
  for (uint64_t turns = 1; !has_work() && now() < until; ++turns) device::look_again(turns);
  std::unique_lock lock(mutex_);
  asleep_ = true;
  arrived_.wait(lock, [&] { return closed_ || has_work(); });
  asleep_ = false;
  return !closed_ || has_work();  // a thread that looks out may have ended it meanwhile
}

}  // namespace metalloid::nvidia
