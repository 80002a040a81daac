#include "nvidia/signals.hpp"

namespace metalloid::nvidia {

void Signals::add(const device::Event& event, uint64_t value, cuda::Event recorded) {
  std::lock_guard lock(mutex_);
  signals_.push_back({&event, value, recorded});
}

void Signals::remove(cuda::Event recorded) {
  std::lock_guard lock(mutex_);
  signals_.remove_if([&](const Signal& signal) { return signal.recorded == recorded; });
}

void Signals::forget() {
  std::lock_guard lock(mutex_);
  signals_.clear();
}

std::optional<uint64_t> Signals::wait(const Driver& driver, cuda::Stream stream, const device::Event& event,
                                      uint64_t value) {
  std::lock_guard lock(mutex_);
  for (const Signal& signal : signals_)
    if (signal.event == &event && signal.value >= value &&
        driver.wait_for_event(stream, signal.recorded, 0) == cuda::Code::success)
      return signal.value;
  return std::nullopt;
}

}  // namespace metalloid::nvidia
