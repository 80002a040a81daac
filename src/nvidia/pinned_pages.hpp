// Pinned memory of a queue that is used again and again, in pieces of one size.
#pragma once

#include <memory>
#include <metalloid/result.hpp>
#include <vector>

#include "nvidia/memory.hpp"

namespace metalloid::nvidia {

class PinnedPages {
 public:
  PinnedPages(std::shared_ptr<Gpu> gpu, size_t bytes) : gpu_(std::move(gpu)), bytes_(bytes) {}

  Result<std::unique_ptr<device::Memory>> take() {
    if (spare_.empty()) return allocate_pinned_memory(gpu_, bytes_);
    auto pages = std::move(spare_.back());
    spare_.pop_back();
    return pages;
  }

  void give_back(std::unique_ptr<device::Memory> pages) { spare_.push_back(std::move(pages)); }

 private:
  const std::shared_ptr<Gpu> gpu_;
  const size_t bytes_;
  std::vector<std::unique_ptr<device::Memory>> spare_;
};

}  // namespace metalloid::nvidia
