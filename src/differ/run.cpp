#include "differ/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <metalloid/compiler.hpp>
#include <mutex>
#include <span>
#include <stdexcept>

#include "cpu/cpu_device.hpp"
#include "device/pixel_format.hpp"
#include "device/texture.hpp"
#include "differ/guarded_memory.hpp"
#include "differ/setting.hpp"
#include "metal/devices.hpp"

namespace metalloid::differ {

// Where kernels run, and what their arguments lie in.
struct Place {
  std::shared_ptr<device::Device> device;
  std::unique_ptr<device::Queue> queue = device->make_queue();
  bool is_host = false;

  std::unique_ptr<ArgumentMemory> memory(std::span<const uint8_t> contents, Guard guard) const {
    if (is_host) return std::make_unique<GuardedMemory>(contents, guard);
    auto memory = device_memory(*device, contents, guard);
    if (!memory) throw std::runtime_error(memory.error());
    return std::move(*memory);
  }
};

namespace {

bool is_of_cpu(const Engine& engine) {
  return engine.name == "reference" || engine.name == "vector";
}

// Other devices live until the process ends: their drivers end before our destructors run.
Result<Place*> place_of(const Engine& engine) {
  static Place cpu{.device = cpu::make_device(), .is_host = true};
  if (is_of_cpu(engine)) return &cpu;
  static auto& others = *new std::map<std::string, Place*>;
  Place*& place = others[engine.name];
  if (place) return place;
  auto device = metal::device_named(engine.name);
  if (!device) return Error{fmt::format("there is no device '{}' on this machine", engine.name)};
  return place = new Place{.device = std::move(device)};
}

// The arguments of one run, where the kernel sees them.
class Bound {
 public:
  Bound(const Place& place, const KernelCase& kernel, uint64_t threads, Guard guard, const device::Pipeline& pipeline)
      : place_(place), pipeline_(pipeline) {
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
      const Argument& argument = kernel.arguments[i];
      memory_.push_back(place.memory(initial_bytes(kernel, argument, i, threads), guard));
      values_.push_back(std::visit([&](const auto& value) { return bind(value, *memory_.back()); }, argument));
    }
  }

  const std::vector<device::Argument>& values() const { return values_; }
  const std::vector<std::unique_ptr<ArgumentMemory>>& memory() const { return memory_; }

 private:
  device::Argument bind(const BufferArgument&, const ArgumentMemory& memory) {
    return {memory.address(), memory.bytes().size()};
  }
  device::Argument bind(const BytesArgument&, const ArgumentMemory& memory) {
    return {memory.address(), memory.bytes().size()};
  }
  device::Argument bind(const StructuredArgument&, const ArgumentMemory& memory) {
    return {memory.address(), memory.bytes().size()};
  }
  device::Argument bind(const ThreadgroupArgument& argument, const ArgumentMemory&) { return {0, argument.bytes}; }
  device::Argument bind(const device::Sampler& sampler, const ArgumentMemory&) { return {device::pack(sampler), 0}; }

  device::Argument bind(const TextureArgument& argument, const ArgumentMemory& memory) {
    constexpr unsigned type_2d = 2, type_2d_array = 3;  // MTLTextureType
    device::TextureDescription texture = {};
    texture.base = memory.address();
    texture.pixel_format = argument.pixel_format;
    texture.type = argument.slices > 1 ? type_2d_array : type_2d;
    texture.width = argument.width;
    texture.height = argument.height;
    texture.slices = argument.slices;
    texture.depth = texture.levels = texture.samples = 1;
    for (unsigned char i = 0; i < 4; ++i) texture.swizzle[i] = static_cast<unsigned char>(2 + i);
    texture.bytes_per_texel = device::pixel_format(argument.pixel_format).bytes;
    texture.level[0].row_bytes = uint64_t{argument.width} * texture.bytes_per_texel;
    texture.level[0].image_bytes = texture.level[0].row_bytes * argument.height;
    return {address_of_copy(std::as_bytes(std::span(&texture, 1))), 0};
  }

  device::Argument bind(const FunctionsArgument& argument, const ArgumentMemory&) {
    std::vector<uint64_t> table = {argument.names.size()};  // as device::FunctionTable is laid out
    for (const std::string& name : argument.names) table.push_back(pipeline_.function_address(name));
    return {address_of_copy(std::as_bytes(std::span(table))), 0};
  }

  uint64_t address_of_copy(std::span<const std::byte> bytes) {
    const std::span contents(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    return handles_.emplace_back(place_.memory(contents, Guard::beginning))->address();
  }

  const Place& place_;
  const device::Pipeline& pipeline_;
  std::vector<std::unique_ptr<ArgumentMemory>> memory_;
  std::vector<device::Argument> values_;
  std::vector<std::unique_ptr<ArgumentMemory>> handles_;  // what textures and function tables point to
};

device::Outcome carry_out(device::Queue& queue, device::CommandList list, Remains& remains) {
  std::promise<device::Outcome> done;
  std::mutex mutex;
  auto submission = std::make_unique<device::Submission>();
  submission->list = std::move(list);
  submission->log = [&](const device::Log& log) {
    std::lock_guard lock(mutex);
    (log.kind == device::Log::Kind::validation ? remains.reports : remains.logs).push_back(log.message);
  };
  submission->completed = [&](const device::Outcome& outcome) { done.set_value(outcome); };
  queue.submit(std::move(submission));
  return done.get_future().get();
}

}  // namespace

Status check_presence(const Engine& engine) {
  const auto place = place_of(engine);
  if (!place) return Error{place.error()};
  return success();
}

std::string to_text(const Engine& engine) {
  return engine.width == 0 ? engine.name : fmt::format("{} engine, width {}", engine.name, engine.width);
}

Result<std::shared_ptr<const Library>> compile_source(const std::string& source) {
  CompileOptions options;
  options.cache = false;
  options.no_warnings = true;
  auto result = compile(source, options);
  if (!result.library) return Error{format(result.diagnostics)};
  return std::shared_ptr<const Library>(std::move(result.library));
}

bool needs_wider_groups(const Library& library, const std::string& kernel, unsigned width) {
  const auto code = library.code(kernel);
  if (!code) return false;
  // Symbols are plain text in bitcode.
  const auto& bitcode = (*code)->bitcode;
  const auto calls = [&](std::string_view name) {
    return std::search(bitcode.begin(), bitcode.end(), name.begin(), name.end()) != bitcode.end();
  };
  const bool in_simdgroups = calls("metal.simd_") || calls("metal.simdgroup_");
  return (in_simdgroups && width < device::threads_per_simdgroup) || (calls("metal.quad_") && width < 4);
}

Result<Subject> Subject::make(const Engine& engine, std::shared_ptr<const Library> library, const KernelCase& kernel) {
  device::PipelineRequest request;
  request.kernel = {library, kernel.kernel, kernel.constants};
  request.validate = engine.validates;
  for (const Argument& argument : kernel.arguments)
    if (const auto* functions = std::get_if<FunctionsArgument>(&argument))
      for (const std::string& name : functions->names) request.linked.push_back({library, name, {}});

  const Setting name("METALLOID_ENGINE", is_of_cpu(engine) ? engine.name : "");
  const Setting width("METALLOID_WIDTH", engine.width == 0 ? "" : std::to_string(engine.width));
  const auto place = place_of(engine);
  if (!place) return Error{place.error()};
  auto pipeline = (*place)->device->compile(request);
  if (!pipeline) return Error{pipeline.error()};
  if ((*pipeline)->slots.size() != kernel.arguments.size())
    return Error{fmt::format("'{}' takes {} arguments, and is given {}", kernel.kernel, (*pipeline)->slots.size(),
                             kernel.arguments.size())};
  Subject subject;
  subject.place_ = *place;
  subject.pipeline_ = std::move(*pipeline);
  return subject;
}

Remains Subject::run(const KernelCase& kernel, const Launch& launch, Guard guard) const {
  const Bound bound(*place_, kernel, launch.grid.count(), guard, *pipeline_);
  device::CommandList list;
  const size_t size = bound.values().size() * sizeof(device::Argument);
  auto* arguments = static_cast<device::Argument*>(list.arena.allocate(size, alignof(device::Argument)));
  std::ranges::copy(bound.values(), arguments);
  list.commands.emplace_back(device::Dispatch{pipeline_.get(), arguments, launch.grid, launch.threadgroup, 0});

  Remains remains;
  const device::Outcome outcome = carry_out(*place_->queue, std::move(list), remains);
  if (!outcome.faults.empty()) remains.fault = outcome.faults.front().message;
  std::ranges::sort(remains.logs);
  for (const auto& memory : bound.memory()) {
    remains.memory.emplace_back(memory->bytes().begin(), memory->bytes().end());
    remains.stores_missed |= !memory->surroundings_are_untouched();
  }
  return remains;
}

}  // namespace metalloid::differ
