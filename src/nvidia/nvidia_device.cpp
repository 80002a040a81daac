#include "nvidia/nvidia_device.hpp"

#include <fmt/format.h>

#include "nvidia/clock.hpp"
#include "nvidia/context.hpp"
#include "nvidia/memory.hpp"
#include "nvidia/pipeline.hpp"
#include "nvidia/queue.hpp"

namespace metalloid::nvidia {

namespace {

device::Info describe(const Properties& properties) {
  constexpr uint64_t first_id = 0x10de'0000;  // NVIDIA's number among vendors; the CPU has 1
  device::Info info;
  info.name = properties.name;
  info.architecture = properties.architecture.name();
  info.registry_id = first_id + properties.pci_bus;
  info.max_buffer_length = properties.memory / 4 * 3;
  info.recommended_working_set = properties.memory / 4 * 3;
  info.max_threads_per_threadgroup = properties.max_threads_per_threadgroup;
  info.max_threadgroup_memory = properties.max_threadgroup_memory;
  info.unified_memory = false;
  return info;
}

class Device final : public device::Device {
 public:
  explicit Device(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)), info_(describe(gpu_->properties)) {}

  const device::Info& info() const override { return info_; }
  uint64_t clock() const override { return now(); }

  Result<std::unique_ptr<device::Memory>> allocate(size_t bytes, device::Storage storage) override {
    return allocate_memory(gpu_, bytes, storage);
  }

  Result<std::unique_ptr<device::Memory>> adopt(void* host, size_t bytes) override {
    return adopt_memory(gpu_, host, bytes);
  }

  Result<std::shared_ptr<device::Pipeline>> compile(const device::PipelineRequest& request) override {
    auto pipeline = Pipeline::make(gpu_, request);
    if (!pipeline) return Error{pipeline.error()};
    return std::shared_ptr<device::Pipeline>(std::move(*pipeline));
  }

  std::unique_ptr<device::Queue> make_queue() override { return std::make_unique<Queue>(gpu_); }

 private:
  const std::shared_ptr<Gpu> gpu_;
  const device::Info info_;
};

const Devices& found() {
  static const auto& devices = *new Devices(find_devices());  // they live until the process ends
  return devices;
}

}  // namespace

Devices find_devices() {
  Devices found;
  const Result<Driver>& driver = Driver::shared();
  if (!driver) {
    found.problems = driver.error();
    return found;
  }
  int count = 0;
  if (const cuda::Code code = driver->get_device_count(&count); code != cuda::Code::success)
    found.problems = fmt::format("the NVIDIA driver does not tell of GPUs: {}", driver->describe(code));
  else if (count == 0)
    found.problems = "there is an NVIDIA driver, but no GPU";
  for (int i = 0; i < count; ++i) {
    auto gpu = Gpu::open(*driver, i);
    if (gpu)
      found.devices.push_back(std::make_shared<Device>(*std::move(gpu)));
    else
      found.problems += (found.problems.empty() ? "" : "; ") + gpu.error();
  }
  return found;
}

std::vector<std::shared_ptr<device::Device>> make_devices() {
  return found().devices;
}

std::string why_there_are_none() {
  return found().devices.empty() ? found().problems : "";
}

}  // namespace metalloid::nvidia
