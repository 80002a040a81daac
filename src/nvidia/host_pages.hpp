// Pages of the host that the GPU reads and writes where they are. Pinning is by whole pages and each page once, so
// memory that shares a page with other memory shares its pinning. Pages are the process's own: when the context is
// rebuilt they are pinned again, and what they hold is still there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <metalloid/result.hpp>
#include <mutex>
#include <vector>

#include "nvidia/driver.hpp"

namespace metalloid::nvidia {

class HostPages {
 public:
  // With the GPU's context current. What is pinned is unpinned with the same range.
  Status pin(const Driver& driver, const void* start, size_t bytes);
  void unpin(const Driver& driver, const void* start, size_t bytes);

  // In a new context. Pages that the driver does not take again are accessed in vain: kernels fault on them.
  void pin_all_again(const Driver& driver);

 private:
  struct Region {
    uintptr_t end = 0;
    size_t users = 0;
    bool read_only = false;
  };
  using Regions = std::map<uintptr_t, Region>;

  Regions::iterator first_touching(uintptr_t start);

  std::mutex mutex_;
  Regions regions_;  // by their first byte; none overlap
};

}  // namespace metalloid::nvidia
