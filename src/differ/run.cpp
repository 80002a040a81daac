#include "differ/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <metalloid/compiler.hpp>
#include <mutex>

#include "cpu/cpu_device.hpp"
#include "device/pixel_format.hpp"
#include "device/texture.hpp"
#include "differ/setting.hpp"

namespace metalloid::differ {

namespace {

device::Device& cpu() {
  static const std::shared_ptr<device::Device> device = cpu::make_device();
  return *device;
}

device::Queue& queue() {
  static const std::unique_ptr<device::Queue> queue = cpu().make_queue();
  return *queue;
}

// The arguments of one run, where the kernel sees them.
class Bound {
 public:
  Bound(const KernelCase& kernel, uint64_t threads, Guard guard, const device::Pipeline& pipeline) {
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
      const Argument& argument = kernel.arguments[i];
      memory_.emplace_back(initial_bytes(kernel, argument, i, threads), guard);
      values_.push_back(std::visit([&](const auto& value) { return bind(value, memory_.back(), pipeline); }, argument));
    }
  }

  const std::vector<device::Argument>& values() const { return values_; }
  const std::vector<GuardedMemory>& memory() const { return memory_; }

 private:
  device::Argument bind(const BufferArgument&, const GuardedMemory& memory, const device::Pipeline&) {
    return {memory.address(), memory.bytes().size()};
  }
  device::Argument bind(const BytesArgument&, const GuardedMemory& memory, const device::Pipeline&) {
    return {memory.address(), memory.bytes().size()};
  }
  device::Argument bind(const ThreadgroupArgument& argument, const GuardedMemory&, const device::Pipeline&) {
    return {0, argument.bytes};
  }
  device::Argument bind(const device::Sampler& sampler, const GuardedMemory&, const device::Pipeline&) {
    return {device::pack(sampler), 0};
  }

  device::Argument bind(const TextureArgument& argument, const GuardedMemory& memory, const device::Pipeline&) {
    constexpr unsigned type_2d = 2;  // MTLTextureType2D
    device::TextureDescription& texture = textures_.emplace_back();
    texture.base = memory.address();
    texture.pixel_format = argument.pixel_format;
    texture.type = type_2d;
    texture.width = argument.width;
    texture.height = argument.height;
    texture.depth = texture.slices = texture.levels = texture.samples = 1;
    for (unsigned char i = 0; i < 4; ++i) texture.swizzle[i] = static_cast<unsigned char>(2 + i);
    texture.bytes_per_texel = device::pixel_format(argument.pixel_format).bytes;
    texture.level[0].row_bytes = uint64_t{argument.width} * texture.bytes_per_texel;
    texture.level[0].image_bytes = texture.level[0].row_bytes * argument.height;
    return {reinterpret_cast<uint64_t>(&texture), 0};
  }

  device::Argument bind(const FunctionsArgument& argument, const GuardedMemory&, const device::Pipeline& pipeline) {
    std::vector<uint64_t>& table = tables_.emplace_back();  // as device::FunctionTable is laid out
    table.push_back(argument.names.size());
    for (const std::string& name : argument.names) table.push_back(pipeline.function_address(name));
    return {reinterpret_cast<uint64_t>(table.data()), 0};
  }

  std::vector<GuardedMemory> memory_;
  std::vector<device::Argument> values_;
  std::deque<device::TextureDescription> textures_;
  std::deque<std::vector<uint64_t>> tables_;
};

device::Outcome carry_out(device::CommandList list, std::vector<std::string>& logs) {
  std::promise<device::Outcome> done;
  std::mutex mutex;
  auto submission = std::make_unique<device::Submission>();
  submission->list = std::move(list);
  submission->log = [&](const device::Log& log) {
    std::lock_guard lock(mutex);
    logs.push_back(log.message);
  };
  submission->completed = [&](const device::Outcome& outcome) { done.set_value(outcome); };
  queue().submit(std::move(submission));
  return done.get_future().get();
}

}  // namespace

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
  request.kernel = {library, kernel.kernel, {}};
  for (const Argument& argument : kernel.arguments)
    if (const auto* functions = std::get_if<FunctionsArgument>(&argument))
      for (const std::string& name : functions->names) request.linked.push_back({library, name, {}});

  const Setting name("METALLOID_ENGINE", engine.name);
  const Setting width("METALLOID_WIDTH", engine.width == 0 ? "" : std::to_string(engine.width));
  auto pipeline = cpu().compile(request);
  if (!pipeline) return Error{pipeline.error()};
  if ((*pipeline)->slots.size() != kernel.arguments.size())
    return Error{fmt::format("'{}' takes {} arguments, and is given {}", kernel.kernel, (*pipeline)->slots.size(),
                             kernel.arguments.size())};
  Subject subject;
  subject.pipeline_ = std::move(*pipeline);
  return subject;
}

Remains Subject::run(const KernelCase& kernel, const Launch& launch, Guard guard) const {
  const Bound bound(kernel, launch.grid.count(), guard, *pipeline_);
  device::CommandList list;
  const size_t size = bound.values().size() * sizeof(device::Argument);
  auto* arguments = static_cast<device::Argument*>(list.arena.allocate(size, alignof(device::Argument)));
  std::ranges::copy(bound.values(), arguments);
  list.commands.emplace_back(device::Dispatch{pipeline_.get(), arguments, launch.grid, launch.threadgroup, 0});

  Remains remains;
  const device::Outcome outcome = carry_out(std::move(list), remains.logs);
  if (!outcome.faults.empty()) remains.fault = outcome.faults.front().message;
  std::ranges::sort(remains.logs);
  for (const GuardedMemory& memory : bound.memory()) {
    remains.memory.emplace_back(memory.bytes().begin(), memory.bytes().end());
    remains.stores_missed |= !memory.surroundings_are_untouched();
  }
  return remains;
}

}  // namespace metalloid::differ
