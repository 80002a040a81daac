// What the tests of the host's side share: a GPU of the fake driver, a kernel for it, and queues to run it on.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <metalloid/compiler.hpp>
#include <string>
#include <vector>

#include "fake_driver.hpp"
#include "nvidia/nvidia_device.hpp"

namespace metalloid::nvidia {

class FakeGpu : public testing::Test {
 public:
  FakeGpu() {
    const std::string driver = fake_driver();
    setenv("METALLOID_CUDA_DRIVER", driver.c_str(), 1);
    library_ = dlopen(driver.c_str(), RTLD_NOW);
    if (!library_) return;
    controls_ = reinterpret_cast<fake::Controls* (*)()>(dlsym(library_, "metalloid_fake_controls"))();
    controls_->holds_launches = false;
    controls_->makes_contexts = true;
    controls_->graphs = controls_->node_changes = controls_->machine_code = 0;
    controls_->launches = controls_->copies = controls_->prefetches = controls_->modules = 0;
    found_ = find_devices();
    if (!found_.devices.empty()) device_ = found_.devices.front();
  }

 protected:
  void SetUp() override { ASSERT_TRUE(device_) << (library_ ? found_.problems : dlerror()); }

  void go_on() { reinterpret_cast<void (*)()>(dlsym(library_, "metalloid_fake_go_on"))(); }

  std::unique_ptr<device::Memory> memory(size_t bytes, device::Storage storage = device::Storage::shared) {
    auto made = device_->allocate(bytes, storage);
    EXPECT_TRUE(made) << made.error();
    return made ? *std::move(made) : nullptr;
  }

  // A kernel with these slots; what it does when it is launched is `does`.
  std::shared_ptr<device::Pipeline> kernel(fake::Kernel does, const char* name = "add") {
    static const auto library = [] {
      CompileOptions options;
      options.cache = false;
      return compile(
          "kernel void add(device int* values, constant int& by, uint i [[thread_position_in_grid]]) {\n"
          "  values[i] += by;\n}\n"
          "kernel void subtract(device int* values, constant int& by, uint i [[thread_position_in_grid]]) {\n"
          "  values[i] -= by;\n}\n",
          options);
    }();
    EXPECT_TRUE(library.library) << format(library.diagnostics);
    controls_->kernel = does;
    controls_->parameters = 2;
    device::PipelineRequest request;
    request.kernel = {library.library, name, {}};
    auto pipeline = device_->compile(request);
    EXPECT_TRUE(pipeline) << pipeline.error();
    return pipeline ? *pipeline : nullptr;
  }

  static device::Dispatch dispatch(const device::Pipeline& pipeline, std::vector<device::Argument> arguments,
                                   device::CommandList& list, device::Size threads = {64, 1, 1}) {
    auto* copied = static_cast<device::Argument*>(
        list.arena.allocate(arguments.size() * sizeof(device::Argument), alignof(device::Argument)));
    std::copy(arguments.begin(), arguments.end(), copied);
    return {&pipeline, copied, threads, {32, 1, 1}, 0};
  }

  static std::future<device::Outcome> submit(device::Queue& queue, device::CommandList list, bool calls_program = true,
                                             std::function<void()> scheduled = nullptr) {
    auto done = std::make_shared<std::promise<device::Outcome>>();
    auto submission = std::make_unique<device::Submission>();
    submission->list = std::move(list);
    submission->scheduled = std::move(scheduled);
    submission->calls_program = calls_program;
    submission->log = [](const device::Log&) {};
    submission->completed = [done](const device::Outcome& outcome) { done->set_value(outcome); };
    queue.submit(std::move(submission));
    return done->get_future();
  }

  std::shared_ptr<device::Device> device_;
  fake::Controls* controls_ = nullptr;

 private:
  // Beside the test's own folder, wherever that was copied to.
  static std::string fake_driver() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / METALLOID_FAKE_DRIVER;
  }

  void* library_ = nullptr;
  Devices found_;
};

// What kernels of the tests do: 64 integers, and a number to add. Sums wrap around, as they do on GPUs.
inline int adds(const fake::Launch& launch) {
  auto* values = reinterpret_cast<uint32_t*>(*static_cast<uint64_t*>(launch.parameters[0]));
  const uint32_t by = *reinterpret_cast<const uint32_t*>(*static_cast<uint64_t*>(launch.parameters[1]));
  for (int i = 0; i < 64; ++i) values[i] += by;
  return 0;
}

inline int faults(const fake::Launch&) {
  return 700;
}

inline device::Argument argument(const device::Memory& memory) {
  return {memory.address, memory.size};
}

inline int* integers(const device::Memory& memory) {
  return static_cast<int*>(memory.host);
}

}  // namespace metalloid::nvidia
