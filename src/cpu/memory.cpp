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
#include <optional>
#include <span>

namespace metalloid::cpu {

namespace {

class Pages final : public device::Memory {
 public:
  Pages(void* start, size_t bytes, std::span<std::byte> mapped) : mapped_(mapped) {
    address = reinterpret_cast<uint64_t>(start);
    host = start;
    size = bytes;
  }
  ~Pages() override { munmap(mapped_.data(), mapped_.size()); }

 private:
  std::span<std::byte> mapped_;  // with the margins
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

// Kernels of real projects read a little outside of a buffer and then do not use what they got, and their idle threads
// write there, which GPUs forgive. So on both sides of a buffer there is memory that is nobody's; it takes up addresses
// only, as long as nobody goes there.
constexpr size_t small_margin = size_t{64} << 10;

struct Mapping {
  std::span<std::byte> all;
  std::byte* start = nullptr;  // of what is between the margins; a large page, if that holds one
};

std::optional<Mapping> map_pages(size_t bytes) {
  const bool is_large = bytes >= large_page;
  const size_t margin = is_large ? large_page : small_margin;
  const size_t mapped = bytes + 2 * margin + (is_large ? large_page : 0);
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  Mapping mapping{{static_cast<std::byte*>(memory), mapped}, static_cast<std::byte*>(memory) + margin};
  if (is_large) mapping.start += -reinterpret_cast<uintptr_t>(mapping.start) % large_page;
  // Advice: nothing is wrong if it is not taken. A large page would fill the margins of small buffers with memory.
  if (is_large)
    madvise(mapping.start, bytes, MADV_HUGEPAGE);
  else
    madvise(memory, mapped, MADV_NOHUGEPAGE);
  return mapping;
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
  const std::optional<Mapping> pages = map_pages((std::max<size_t>(bytes, 1) + page - 1) / page * page);
  if (!pages) return Error{fmt::format("the system gave no {} bytes of memory: {}", bytes, std::strerror(errno))};
  return std::unique_ptr<device::Memory>(new Pages(pages->start, bytes, pages->all));
}

Result<std::unique_ptr<device::Memory>> adopt_memory(void* host, size_t bytes) {
  if (!host) return Error{"no memory was given to be used as a buffer"};
  return std::unique_ptr<device::Memory>(new Adopted(host, bytes));
}

}  // namespace metalloid::cpu
