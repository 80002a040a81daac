#include "differ/guarded_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace metalloid::differ {

GuardedMemory::GuardedMemory(std::span<const uint8_t> contents, Guard guard) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t accessible = std::max(page, (contents.size() + page - 1) / page * page);
  void* mapped = mmap(nullptr, accessible + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  all_ = {static_cast<uint8_t*>(mapped), accessible + 2 * page};
  pages_ = all_.subspan(page, accessible);
  if (mprotect(pages_.data(), pages_.size(), PROT_READ | PROT_WRITE) != 0) {
    munmap(all_.data(), all_.size());
    throw std::bad_alloc();
  }
  std::ranges::fill(pages_, surroundings_pattern);
  bytes_ = guard == Guard::end ? pages_.last(contents.size()) : pages_.first(contents.size());
  std::ranges::copy(contents, bytes_.begin());
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : all_(std::exchange(other.all_, {})), pages_(other.pages_), bytes_(other.bytes_) {}

GuardedMemory::~GuardedMemory() {
  if (!all_.empty()) munmap(all_.data(), all_.size());
}

bool GuardedMemory::surroundings_are_untouched() const {
  const auto before = static_cast<size_t>(bytes_.data() - pages_.data());
  return has_surroundings_pattern(pages_.first(before)) &&
         has_surroundings_pattern(pages_.subspan(before + bytes_.size()));
}

}  // namespace metalloid::differ
