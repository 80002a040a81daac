#include "nvidia/host_pages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace metalloid::nvidia {

namespace {

struct Pages {
  uintptr_t start = 0, end = 0;
};

Pages pages_of(const void* start, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(start);
  return {first / page * page, (first + bytes + page - 1) / page * page};
}

cuda::Code register_pages(const Driver& driver, Pages pages, bool read_only) {
  const unsigned flags =
      cuda::register_for_all_contexts | cuda::register_mapped | (read_only ? cuda::register_read_only : 0);
  return driver.register_host(reinterpret_cast<void*>(pages.start), pages.end - pages.start, flags);
}

}  // namespace

Status HostPages::pin(const Driver& driver, const void* start, size_t bytes) {
  const Pages asked = pages_of(start, bytes);
  std::lock_guard lock(mutex_);
  std::vector<Pages> gaps;
  uintptr_t covered = asked.start;
  for (auto region = first_touching(asked.start); region != regions_.end() && region->first < asked.end; ++region) {
    if (region->first > covered) gaps.push_back({covered, region->first});
    covered = region->second.end;
  }
  if (covered < asked.end) gaps.push_back({covered, asked.end});

  for (size_t i = 0; i < gaps.size(); ++i) {
    bool read_only = false;
    cuda::Code code = register_pages(driver, gaps[i], read_only);
    // Files that a program only reads, such as a model's weights, are mapped so that nobody can write them.
    if (code != cuda::Code::success && code != cuda::Code::out_of_memory) {
      read_only = true;
      if (register_pages(driver, gaps[i], read_only) == cuda::Code::success) code = cuda::Code::success;
    }
    if (code != cuda::Code::success) {
      for (size_t done = 0; done < i; ++done) {
        driver.unregister_host(reinterpret_cast<void*>(gaps[done].start));
        regions_.erase(gaps[done].start);
      }
      return Error{fmt::format("the GPU cannot use the {} bytes of the host's memory at {}: {}", bytes, start,
                               driver.describe(code))};
    }
    regions_[gaps[i].start] = {.end = gaps[i].end, .users = 0, .read_only = read_only};
  }
  for (auto region = first_touching(asked.start); region != regions_.end() && region->first < asked.end; ++region)
    ++region->second.users;
  return success();
}

void HostPages::unpin(const Driver& driver, const void* start, size_t bytes) {
  const Pages asked = pages_of(start, bytes);
  std::lock_guard lock(mutex_);
  for (auto region = first_touching(asked.start); region != regions_.end() && region->first < asked.end;) {
    if (--region->second.users > 0) {
      ++region;
      continue;
    }
    driver.unregister_host(reinterpret_cast<void*>(region->first));
    region = regions_.erase(region);
  }
}

void HostPages::pin_all_again(const Driver& driver) {
  std::lock_guard lock(mutex_);
  for (const auto& [start, region] : regions_)
    static_cast<void>(register_pages(driver, {start, region.end}, region.read_only));
}

HostPages::Regions::iterator HostPages::first_touching(uintptr_t start) {
  auto region = regions_.upper_bound(start);
  if (region != regions_.begin() && std::prev(region)->second.end > start) --region;
  return region;
}

}  // namespace metalloid::nvidia
