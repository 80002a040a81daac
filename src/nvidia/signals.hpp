// Signals of events that queues of a GPU have put on their streams but that have not happened yet. A queue that waits
// for one lets its stream wait, and goes on: neither queue's thread has to be there when it happens.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>

#include "device/event.hpp"
#include "nvidia/driver.hpp"

namespace metalloid::nvidia {

class Signals {
 public:
  // The event of CUDA is recorded; it stays the caller's, who takes the signal back before it goes.
  void add(const device::Event& event, uint64_t value, cuda::Event recorded);
  void remove(cuda::Event recorded);
  void forget();  // all of them: their context has gone

  // If a signal of at least that value is on its way, the stream waits for it; gives its value.
  std::optional<uint64_t> wait(const Driver& driver, cuda::Stream stream, const device::Event& event, uint64_t value);

 private:
  struct Signal {
    const device::Event* event = nullptr;
    uint64_t value = 0;
    cuda::Event recorded = nullptr;
  };

  std::mutex mutex_;
  std::list<Signal> signals_;
};

}  // namespace metalloid::nvidia
