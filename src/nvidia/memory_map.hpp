// All memory that a GPU sees, by address. A queue asks it what the addresses in commands are: whatever is not in it is
// the host's alone and must be brought where kernels can read it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <vector>

#include "device/device.hpp"

namespace metalloid::nvidia {

class VisibleMemory : public device::Memory {
 public:
  enum class Kind : uint8_t {
    pinned,   // pages of the host
    adopted,  // the same, but the program's own; other memory may lie in it
    managed,  // pages that move to whoever touches them
    private_to_device,
  };
  explicit VisibleMemory(Kind kind) : kind(kind) {}

  const Kind kind;
  std::atomic<bool> may_be_on_host = true;  // managed memory: worth being prefetched before it is used
  std::atomic<bool> is_lost = false;        // with the context that it lived in

  void host_access() override { may_be_on_host.store(true, std::memory_order_relaxed); }

  // Called between the end of the old context and the start of the new one.
  virtual void context_has_gone() {}
};

class MemoryMap {
 public:
  void add(VisibleMemory& memory);
  void remove(const VisibleMemory& memory);

  // The memory that holds the byte at the address; null if there is none. Commands keep alive what they name.
  VisibleMemory* find(uint64_t address) const;

  void context_has_gone();

 private:
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, VisibleMemory*> by_address_;  // none overlap
  std::vector<VisibleMemory*> adopted_;
  std::vector<VisibleMemory*> lost_;  // new memory may get their addresses
};

}  // namespace metalloid::nvidia
