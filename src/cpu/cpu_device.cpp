#include "cpu/cpu_device.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/info.h>

#include <mutex>

#include "cpu/clock.hpp"
#include "cpu/faults.hpp"
#include "cpu/host_processor.hpp"
#include "cpu/limits.hpp"
#include "cpu/memory.hpp"
#include "cpu/pipeline.hpp"
#include "cpu/queue.hpp"

namespace metalloid::cpu {

namespace {

device::Info describe() {
  device::Info info;
  info.name = fmt::format("Metalloid CPU ({})", processor_name());
  info.architecture = processor_architecture();
  info.registry_id = 1;
  info.max_buffer_length = physical_memory() / 4 * 3;
  info.recommended_working_set = physical_memory() / 4 * 3;
  info.max_threads_per_threadgroup = max_threads_per_threadgroup;
  info.max_threadgroup_memory = max_threadgroup_memory;
  info.unified_memory = true;
  return info;
}

class Device final : public device::Device {
 public:
  const device::Info& info() const override { return info_; }
  uint64_t clock() const override { return now(); }

  Result<std::unique_ptr<device::Memory>> allocate(size_t bytes, device::Storage) override {
    return allocate_memory(bytes);
  }

  Result<std::unique_ptr<device::Memory>> adopt(void* host, size_t bytes) override { return adopt_memory(host, bytes); }

  Result<std::shared_ptr<device::Pipeline>> compile(const device::PipelineRequest& request) override {
    std::call_once(loader_made_, [this] { loader_ = Loader::make(); });
    if (!loader_) return Error{loader_.error()};
    auto pipeline = Pipeline::make(*loader_, request);
    if (!pipeline) return Error{pipeline.error()};
    return std::shared_ptr<device::Pipeline>(std::move(*pipeline));
  }

  std::unique_ptr<device::Queue> make_queue() override { return std::make_unique<Queue>(pool_); }

 private:
  const device::Info info_ = describe();
  const std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>(oneapi::tbb::info::default_concurrency());
  std::once_flag loader_made_;
  Result<std::shared_ptr<Loader>> loader_ = Error{};
};

}  // namespace

std::shared_ptr<device::Device> make_device() {
  return std::make_shared<Device>();
}

}  // namespace metalloid::cpu
