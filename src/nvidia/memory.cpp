#include "nvidia/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace metalloid::nvidia {

namespace {

using Kind = VisibleMemory::Kind;
using MemoryResult = Result<std::unique_ptr<device::Memory>>;

size_t page_size() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t whole_pages(size_t bytes) {
  return (std::max<size_t>(bytes, 1) + page_size() - 1) / page_size() * page_size();
}

class Pinned final : public VisibleMemory {
 public:
  Pinned(std::shared_ptr<Gpu> gpu, void* start, size_t bytes) : VisibleMemory(Kind::pinned), gpu_(std::move(gpu)) {
    address = reinterpret_cast<uint64_t>(start);
    host = start;
    size = bytes;
    gpu_->memories.add(*this);
  }
  ~Pinned() override {
    gpu_->memories.remove(*this);
    if (auto use = gpu_->use()) gpu_->host_pages.unpin(use->driver(), host, size);
    munmap(host, whole_pages(size));
  }

 private:
  const std::shared_ptr<Gpu> gpu_;
};

class Adopted final : public VisibleMemory {
 public:
  Adopted(std::shared_ptr<Gpu> gpu, void* start, size_t bytes, bool pinned)
      : VisibleMemory(Kind::adopted), gpu_(std::move(gpu)), pinned_(pinned) {
    address = reinterpret_cast<uint64_t>(start);
    host = start;
    size = bytes;
    gpu_->memories.add(*this);
  }
  ~Adopted() override {
    gpu_->memories.remove(*this);
    if (!pinned_) return;
    if (auto use = gpu_->use()) gpu_->host_pages.unpin(use->driver(), host, size);
  }

 private:
  const std::shared_ptr<Gpu> gpu_;
  const bool pinned_;
};

// Private or managed memory. `first` is where the driver's allocation begins, which alignment may put before the start.
class Allocated final : public VisibleMemory {
 public:
  Allocated(std::shared_ptr<Gpu> gpu, Kind kind, cuda::Address first, cuda::Address start, size_t bytes)
      : VisibleMemory(kind), gpu_(std::move(gpu)), first_(first) {
    address = start;
    host = kind == Kind::managed ? reinterpret_cast<void*>(start) : nullptr;
    size = bytes;
    if (kind == Kind::managed) gpu_->managed_bytes += size;
    gpu_->memories.add(*this);
  }
  ~Allocated() override {
    gpu_->memories.remove(*this);
    if (kind == Kind::managed) gpu_->managed_bytes -= size;
    if (auto use = gpu_->use(); use && !is_lost) use->driver().free(first_);
    if (has_substitute_) munmap(reinterpret_cast<void*>(address), whole_pages(size));
  }

  // Its place stays taken, so that no other memory is mistaken for it. The program may still hold a pointer to what it
  // could see: empty pages keep reads from ending the process.
  void context_has_gone() override {
    if (is_lost.exchange(true)) return;
    void* place = reinterpret_cast<void*>(address);
    const int access = kind == Kind::managed ? PROT_READ | PROT_WRITE : PROT_NONE;
    void* mapped = mmap(place, whole_pages(size), access,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped != MAP_FAILED && mapped != place) munmap(mapped, whole_pages(size));  // kernels that ignore the flag
    has_substitute_ = mapped == place;
  }

 private:
  const std::shared_ptr<Gpu> gpu_;
  const cuda::Address first_;
  bool has_substitute_ = false;
};

Status check_space(const Gpu& gpu, const Gpu::Use& use, size_t bytes, Kind kind) {
  const uint64_t free = gpu.free_memory(use), total = gpu.properties.memory;
  uint64_t left = free;
  // Managed memory takes none of the GPU's until it is touched there.
  if (kind == Kind::managed) left = std::min(free, total - std::min<uint64_t>(total, gpu.managed_bytes));
  if (bytes <= left) return success();
  return Error{fmt::format("{} bytes were asked for; {} of the {} bytes of {} are free", bytes, left, total,
                           gpu.properties.name)};
}

MemoryResult allocate_on_device(std::shared_ptr<Gpu> gpu, size_t bytes, Kind kind) {
  const size_t size = std::max<size_t>(bytes, 1);
  auto use = gpu->use();
  if (!use) return Error{use.error()};
  const Driver& driver = use->driver();
  if (Status enough = check_space(*gpu, *use, size, kind); !enough) return Error{enough.error()};

  const auto allocate = [&](cuda::Address* address, size_t length) {
    return kind == Kind::managed ? driver.allocate_managed(address, length, cuda::attach_to_all_streams)
                                 : driver.allocate(address, length);
  };
  const size_t alignment = size >= page_size() ? page_size() : 256;
  // Managed memory in pages of its own, for the pages that may once take its place.
  const size_t length = kind == Kind::managed ? whole_pages(size) : size;
  cuda::Address first = 0;
  cuda::Code code = allocate(&first, length);
  if (code == cuda::Code::success && first % alignment != 0) {
    driver.free(first);
    code = allocate(&first, length + alignment);
  }
  if (code != cuda::Code::success)
    return Error{fmt::format("{} gave no {} bytes of memory: {}", gpu->properties.name, bytes, driver.describe(code))};
  const cuda::Address start = (first + alignment - 1) / alignment * alignment;
  code = driver.fill(start, 0, size, nullptr);
  if (code == cuda::Code::success) code = driver.synchronize_stream(nullptr);
  if (code != cuda::Code::success) {
    driver.free(first);
    return Error{fmt::format("new memory could not be cleared: {}", driver.describe(code))};
  }
  return std::unique_ptr<device::Memory>(new Allocated(gpu, kind, first, start, bytes));
}

}  // namespace

MemoryResult allocate_memory(std::shared_ptr<Gpu> gpu, size_t bytes, device::Storage storage) {
  if (bytes > gpu->properties.memory)
    return Error{
        fmt::format("{} bytes were asked for; {} has {}", bytes, gpu->properties.name, gpu->properties.memory)};
  if (storage == device::Storage::private_to_device)
    return allocate_on_device(std::move(gpu), bytes, Kind::private_to_device);
  if (storage == device::Storage::shared_on_host || bytes <= largest_pinned_memory ||
      !gpu->properties.has_managed_memory)
    return allocate_pinned_memory(std::move(gpu), bytes);
  return allocate_on_device(std::move(gpu), bytes, Kind::managed);
}

MemoryResult allocate_pinned_memory(std::shared_ptr<Gpu> gpu, size_t bytes) {
  const size_t mapped = whole_pages(bytes);
  void* start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return Error{fmt::format("the system gave no {} bytes of memory: {}", bytes, std::strerror(errno))};
  auto use = gpu->use();
  Status pinned = use ? gpu->host_pages.pin(use->driver(), start, mapped) : Status(Error{use.error()});
  if (!pinned) {
    munmap(start, mapped);
    return Error{pinned.error()};
  }
  return std::unique_ptr<device::Memory>(new Pinned(gpu, start, std::max<size_t>(bytes, 1)));
}

MemoryResult adopt_memory(std::shared_ptr<Gpu> gpu, void* host, size_t bytes) {
  if (!host || bytes == 0) return Error{"no memory was given to be used as a buffer"};
  const auto start = reinterpret_cast<uint64_t>(host);
  const VisibleMemory* around = gpu->memories.find(start);
  const bool is_visible = around && around == gpu->memories.find(start + bytes - 1);
  if (!is_visible) {
    auto use = gpu->use();
    if (!use) return Error{use.error()};
    if (Status pinned = gpu->host_pages.pin(use->driver(), host, bytes); !pinned) return Error{pinned.error()};
  }
  return std::unique_ptr<device::Memory>(new Adopted(gpu, host, bytes, !is_visible));
}

}  // namespace metalloid::nvidia
