#include "nvidia/context.hpp"

#include <fmt/format.h>

#include <array>
#include <mutex>

namespace metalloid::nvidia {

namespace {

Result<Properties> describe(const Driver& driver, cuda::Device device) {
  Properties properties;
  std::array<char, 256> name = {};
  if (const cuda::Code code = driver.get_device_name(name.data(), name.size() - 1, device); code != cuda::Code::success)
    return Error{fmt::format("the GPU does not say its name: {}", driver.describe(code))};
  properties.name = name.data();
  if (properties.name.find("NVIDIA") == std::string::npos) properties.name = "NVIDIA " + properties.name;

  const auto attribute = [&](cuda::DeviceAttribute asked) {
    int value = 0;  // stays so if the driver does not know the attribute
    static_cast<void>(driver.get_device_attribute(&value, asked, device));
    return static_cast<uint32_t>(value);
  };
  using enum cuda::DeviceAttribute;
  properties.architecture.capability = attribute(capability_major) * 10 + attribute(capability_minor);
  if (properties.architecture.capability < least_capability)
    return Error{fmt::format("{} is of compute capability {}; {} is the least that is supported", properties.name,
                             properties.architecture.capability, least_capability)};
  if (!attribute(unified_addressing) || !attribute(host_pointers_of_registered_memory))
    return Error{fmt::format("{} does not see the host's memory at the host's addresses", properties.name)};
  if (!attribute(stream_writes_of_64_bits))
    return Error{fmt::format("{} cannot report progress to the host; a newer driver may help", properties.name)};

  size_t memory = 0;
  if (const cuda::Code code = driver.get_total_memory(&memory, device); code != cuda::Code::success)
    return Error{fmt::format("{} does not say how much memory it has: {}", properties.name, driver.describe(code))};
  properties.memory = memory;
  properties.multiprocessors = attribute(multiprocessors);
  properties.max_threads_per_threadgroup = attribute(max_threads_per_block);
  properties.max_threadgroup_depth = attribute(max_block_z);
  properties.max_threadgroup_memory = attribute(max_shared_memory_per_block);
  properties.max_threadgroups = {attribute(max_grid_x), attribute(max_grid_y), attribute(max_grid_z)};
  properties.pci_bus = attribute(pci_bus);
  properties.has_managed_memory = attribute(concurrent_managed_access) != 0;
  return properties;
}

}  // namespace

Result<std::shared_ptr<Gpu>> Gpu::open(const Driver& driver, int ordinal) {
  cuda::Device device = 0;
  if (const cuda::Code code = driver.get_device(&device, ordinal); code != cuda::Code::success)
    return Error{fmt::format("GPU {} cannot be used: {}", ordinal, driver.describe(code))};
  auto properties = describe(driver, device);
  if (!properties) return Error{properties.error()};
  std::shared_ptr<Gpu> gpu(new Gpu(driver, device, *std::move(properties)));
  if (Status made = gpu->make_context(); !made) return Error{made.error()};
  return gpu;
}

Gpu::Gpu(const Driver& driver, cuda::Device device, Properties properties)
    : driver(driver), device(device), properties(std::move(properties)) {}

Gpu::~Gpu() {
  if (is_abandoned_) return;
  for (const cuda::Context context : {context_, broken_})
    if (context) driver.destroy_context(context);
}

// After a fault, some drivers make a context that is as broken as the last.
Status Gpu::make_context() {
  const auto cannot_be_used = [&](cuda::Code code) {
    context_ = nullptr;
    return Error{fmt::format("{} cannot be used: {}", properties.name, driver.describe(code))};
  };
  if (const cuda::Code code = driver.create_context(&context_, cuda::map_host_memory, device);
      code != cuda::Code::success)
    return cannot_be_used(code);
  size_t free = 0, total = 0;
  const cuda::Code code = driver.get_memory_info(&free, &total);
  cuda::Context made = nullptr;
  driver.pop_context(&made);  // a new context is current until then
  if (code == cuda::Code::success) return success();
  driver.destroy_context(made);
  return cannot_be_used(code);
}

Gpu::Use::Use(Gpu& gpu, std::shared_lock<std::shared_mutex> lock) : gpu_(&gpu), lock_(std::move(lock)) {
  gpu.driver.push_context(gpu.context_);
}

Gpu::Use::~Use() {
  if (!gpu_) return;
  cuda::Context context = nullptr;
  gpu_->driver.pop_context(&context);
}

Result<Gpu::Use> Gpu::use() {
  if (is_abandoned_)
    return Error{
        fmt::format("{} is lost to this process: a kernel that does not end keeps it busy; start the program "
                    "again",
                    properties.name)};
  std::shared_lock lock(mutex_);
  if (!context_) return Error{why_there_is_no_context_};
  return Use(*this, std::move(lock));
}

// The new context is made before the old one goes: a driver that takes no more work from the process after a fault
// leaves at least the memory that the host can read.
void Gpu::rebuild(uint32_t generation, cuda::Code cause) {
  if (generation != generation_) return;
  std::lock_guard lock(mutex_);
  if (generation != generation_) return;
  ++generation_;
  last_cause_ = cause;
  signals.forget();
  const cuda::Context old = std::exchange(context_, nullptr);
  if (Status made = make_context(); !made) {
    broken_ = old;
    why_there_is_no_context_ = fmt::format(
        "{} is lost to this process: after a fault of a kernel ({}) NVIDIA's driver takes no more work from it; start "
        "the program again",
        properties.name, driver.describe(cause));
    return;
  }
  driver.destroy_context(old);
  memories.context_has_gone();
  driver.push_context(context_);
  host_pages.pin_all_again(driver);
  cuda::Context context = nullptr;
  driver.pop_context(&context);
}

// Without the lock: whoever has it may be in a call of the driver that waits for the kernel.
void Gpu::abandon(uint32_t generation) {
  if (!generation_.compare_exchange_strong(generation, generation + 1)) return;
  last_cause_ = cuda::Code::launch_timeout;
  is_abandoned_ = true;
  signals.forget();
}

bool Gpu::is_lost() {
  std::shared_lock lock(mutex_);
  return is_abandoned_ || !context_;
}

uint64_t Gpu::free_memory(const Use& use) const {
  size_t free = 0, total = 0;
  return use.driver().get_memory_info(&free, &total) == cuda::Code::success ? free : 0;
}

}  // namespace metalloid::nvidia
