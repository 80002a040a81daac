// What the CPU device's tests share: compile a piece of Metal, run a kernel of it with arguments, look at the buffers.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <metalloid/compiler.hpp>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/cpu_device.hpp"
#include "device/device.hpp"

namespace metalloid::cpu {

inline device::Device& shared_device() {
  static const std::shared_ptr<device::Device> device = make_device();
  return *device;
}

inline std::shared_ptr<const Library> library_of(std::string_view body) {
  CompileOptions options;
  options.cache = false;
  auto result = compile("#include <metal_stdlib>\nusing namespace metal;\n" + std::string(body), options);
  EXPECT_TRUE(result.library) << format(result.diagnostics);
  return result.library;
}

// The bytes of a value, for a function constant.
template <class T>
device::ConstantValue constant(uint32_t index, T value) {
  device::ConstantValue result{index, std::vector<uint8_t>(sizeof value)};
  std::memcpy(result.bytes.data(), &value, sizeof value);
  return result;
}

struct Launch {
  device::Size grid, threadgroup;  // threads
  std::vector<device::Argument> arguments;
};

// A buffer of the test's own memory.
template <class T>
device::Argument buffer(std::vector<T>& values) {
  return {reinterpret_cast<uint64_t>(values.data()), values.size() * sizeof(T)};
}

template <class T>
device::Argument bytes(const T& value) {
  return {reinterpret_cast<uint64_t>(&value), sizeof(T)};
}

inline device::Argument threadgroup_bytes(uint64_t size) {
  return {0, size};
}

// What a pipeline is made of; no code where there is none because other code is better.
class Archive final : public device::CodeStore {
 public:
  std::optional<std::string> load(std::string_view key) override {
    const auto entry = entries.find(std::string(key));
    return entry == entries.end() ? std::nullopt : std::optional(entry->second);
  }
  void store(std::string_view key, std::string_view code) override { entries[std::string(key)] = code; }

  std::map<std::string, std::string> entries;
};

class Kernel {
 public:
  Kernel() = default;

  explicit Kernel(std::string_view source, std::vector<device::ConstantValue> constants = {}, std::string name = "f")
      : Kernel(library_of(source), std::move(constants), std::move(name)) {}

  Kernel(std::shared_ptr<const Library> library, std::vector<device::ConstantValue> constants = {},
         std::string name = "f") {
    if (!library) return;
    device::PipelineRequest request;
    request.kernel = {std::move(library), std::move(name), std::move(constants)};
    make(request);
  }

  explicit Kernel(const device::PipelineRequest& request) { make(request); }

  // Runs to the end; the fault's message, or nothing.
  std::string run(const Launch& launch) {
    device::CommandList list;
    list.commands.push_back(dispatch(launch, list));
    const device::Outcome outcome = carry_out(std::move(list));
    return outcome.faults.empty() ? "" : outcome.faults.front().message;
  }

  device::Dispatch dispatch(const Launch& launch, device::CommandList& list) const {
    EXPECT_EQ(launch.arguments.size(), pipeline->slots.size());
    auto* arguments = static_cast<device::Argument*>(
        list.arena.allocate(launch.arguments.size() * sizeof(device::Argument), alignof(device::Argument)));
    std::copy(launch.arguments.begin(), launch.arguments.end(), arguments);
    return {pipeline.get(), arguments, launch.grid, launch.threadgroup, 0};
  }

  device::Outcome carry_out(device::CommandList list) {
    static const std::unique_ptr<device::Queue> queue = shared_device().make_queue();
    return carry_out(*queue, std::move(list));
  }

  device::Outcome carry_out(device::Queue& queue, device::CommandList list) {
    std::promise<device::Outcome> done;
    auto submission = std::make_unique<device::Submission>();
    submission->list = std::move(list);
    submission->log = [this](const device::Log& log) {
      std::lock_guard lock(mutex_);
      logs.push_back(log);
    };
    submission->completed = [&](const device::Outcome& outcome) { done.set_value(outcome); };
    queue.submit(std::move(submission));
    return done.get_future().get();
  }

  std::shared_ptr<device::Pipeline> pipeline;
  std::string error;
  std::vector<device::Log> logs;

 private:
  void make(const device::PipelineRequest& request) {
    auto made = shared_device().compile(request);
    if (made)
      pipeline = *made;
    else
      error = made.error();
  }

  std::mutex mutex_;
};

// A kernel that one can ask how much code was made for it.
struct ArchivedKernel {
  explicit ArchivedKernel(std::string_view source) : kernel(request(source, archive)) {
    EXPECT_TRUE(kernel.pipeline) << kernel.error;
  }

  static device::PipelineRequest request(std::string_view source, std::shared_ptr<Archive> archive) {
    device::PipelineRequest request;
    request.kernel = {library_of(source), "f", {}};
    request.archives = {std::move(archive)};
    return request;
  }

  size_t count(bool has_code) const {
    size_t count = 0;
    for (const auto& [key, code] : archive->entries) count += code.empty() != has_code;
    return count;
  }

  std::shared_ptr<Archive> archive = std::make_shared<Archive>();
  Kernel kernel;
};

}  // namespace metalloid::cpu
