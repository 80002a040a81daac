#include "cpu/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace metalloid::cpu {

namespace {

class Pages final : public device::Memory {
 public:
  Pages(void* start, size_t bytes, size_t mapped) : mapped_(mapped) {
    address = reinterpret_cast<uint64_t>(start);
    host = start;
    size = bytes;
  }
  ~Pages() override { munmap(host, mapped_); }

 private:
  size_t mapped_;
};

class Adopted final : public device::Memory {
 public:
  Adopted(void* start, size_t bytes) {
    address = reinterpret_cast<uint64_t>(start);
    host = start;
    size = bytes;
  }
};

// Large buffers get large pages, of which a processor can keep the addresses of far more memory at hand.
constexpr size_t large_page = size_t{2} << 20;

void* map_pages(size_t bytes) {
  constexpr int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
  if (bytes < large_page) return mmap(nullptr, bytes, access, kind, -1, 0);
  void* mapped = mmap(nullptr, bytes + large_page, access, kind, -1, 0);
  if (mapped == MAP_FAILED) return mapped;
  auto* start = static_cast<std::byte*>(mapped);
  const size_t before = (large_page - reinterpret_cast<uintptr_t>(start) % large_page) % large_page;
  if (before > 0) munmap(start, before);
  if (before < large_page) munmap(start + before + bytes, large_page - before);
  madvise(start + before, bytes, MADV_HUGEPAGE);  // advice: nothing is wrong if it is not taken
  return start + before;
}

}  // namespace

uint64_t physical_memory() {
  static const uint64_t bytes = [] {
    uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    std::ifstream file("/sys/fs/cgroup/memory.max");  // of a container; "max" if it has no limit of its own
    uint64_t limit = 0;
    return file >> limit && limit > 0 ? std::min(memory, limit) : memory;
  }();
  return bytes;
}

Result<std::unique_ptr<device::Memory>> allocate_memory(size_t bytes) {
  if (bytes > physical_memory())
    return Error{fmt::format("{} bytes were asked for; this machine has {}", bytes, physical_memory())};
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t mapped = (std::max<size_t>(bytes, 1) + page - 1) / page * page;
  void* start = map_pages(mapped);
  if (start == MAP_FAILED)
    return Error{fmt::format("the system gave no {} bytes of memory: {}", bytes, std::strerror(errno))};
  return std::unique_ptr<device::Memory>(new Pages(start, bytes, mapped));
}

Result<std::unique_ptr<device::Memory>> adopt_memory(void* host, size_t bytes) {
  if (!host) return Error{"no memory was given to be used as a buffer"};
  return std::unique_ptr<device::Memory>(new Adopted(host, bytes));
}

}  // namespace metalloid::cpu
