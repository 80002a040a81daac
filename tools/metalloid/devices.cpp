// metalloid devices: what Metal sees of this machine.
#include <fmt/core.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "metal/device.hpp"
#include "mps/libraries/library.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

double gibibytes(uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 30);
}

// What Metal Performance Shaders have besides kernels of their own.
std::string math_libraries_of(const MTL::Device* device) {
  const device::Info& info = metal::body(device)->info();
  const mps::MathLibrary* library = mps::math_library(info);
  const std::string missing = mps::missing_math_libraries(info);
  if (!library) return "none: " + missing;
  return library->name() + (missing.empty() ? "" : "; " + missing);
}

void show(MTL::Device* device, bool is_default) {
  const MTL::Size threads = device->maxThreadsPerThreadgroup();
  fmt::print(
      "{}{}\n"
      "  architecture         {}\n"
      "  memory               {:.1f} GiB to work with, {:.1f} GiB in one buffer{}\n"
      "  threadgroup          up to {} x {} x {} threads, {} KiB of memory; SIMD-groups of 32\n"
      "  math libraries       {}\n",
      device->name()->utf8String(), is_default ? "   (default)" : "", device->architecture()->name()->utf8String(),
      gibibytes(device->recommendedMaxWorkingSetSize()), gibibytes(device->maxBufferLength()),
      device->hasUnifiedMemory() ? ", shared with the host" : "", threads.width, threads.height, threads.depth,
      device->maxThreadgroupMemoryLength() / 1024, math_libraries_of(device));
}

nlohmann::json to_json(MTL::Device* device) {
  const MTL::Size threads = device->maxThreadsPerThreadgroup();
  return {{"name", device->name()->utf8String()},
          {"architecture", device->architecture()->name()->utf8String()},
          {"registry_id", device->registryID()},
          {"working_set_bytes", device->recommendedMaxWorkingSetSize()},
          {"max_buffer_bytes", device->maxBufferLength()},
          {"unified_memory", device->hasUnifiedMemory()},
          {"max_threads_per_threadgroup", {threads.width, threads.height, threads.depth}},
          {"max_threadgroup_memory_bytes", device->maxThreadgroupMemoryLength()},
          {"math_libraries", math_libraries_of(device)}};
}

void list_devices(bool as_json) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto devices = NS::TransferPtr(MTL::CopyAllDevices());
  if (!devices || devices->count() == 0) throw Failure{exit_file_error, "there is no Metal device"};
  nlohmann::json all = nlohmann::json::array();
  for (NS::UInteger i = 0; i < devices->count(); ++i) {
    auto* device = devices->object<MTL::Device>(i);
    if (as_json)
      all.push_back(to_json(device));
    else
      show(device, i == 0);
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_devices(CLI::App& app) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("devices", "List the Metal devices of this machine");
  command->add_flag("--json", *as_json, "As JSON");
  command->footer(
      "METALLOID_DEVICE chooses the default one. METALLOID_CUDA_LIBRARIES names folders of cuBLASLt and cuDNN, with a "
      "colon between them.\n");
  command->callback([as_json] { list_devices(*as_json); });
}

}  // namespace metalloid::tool
