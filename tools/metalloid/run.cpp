// metalloid run: a kernel, its arguments from the command line, its results on the terminal. A person can try a kernel
// without writing a program. `metalloid check` is the same with validation on.
#include <fmt/format.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <metalloid/metal.hpp>

#include "buffer_argument.hpp"
#include "files.hpp"
#include "library_source.hpp"
#include "npy.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

struct RunArguments {
  LibrarySource source;
  std::string kernel;
  std::string grid, threadgroups, group;
  std::vector<std::string> buffers, threadgroup_memory, constants;
  bool check = false;
  bool explain = false;
  unsigned time_runs = 0;
  std::string trace;
  uint64_t seed = 1;
  uint64_t limit = 64;
};

NS::String* text(const std::string& string) {
  return NS::String::string(string.c_str(), NS::UTF8StringEncoding);
}

[[noreturn]] void fail(const std::string& what, NS::Error* error) {
  throw Failure{exit_source_error,
                error ? fmt::format("{}: {}", what, error->localizedDescription()->utf8String()) : what};
}

const Function& find_kernel(const Library& library, const RunArguments& arguments) {
  const Function* function = library.find(arguments.kernel);
  if (function && function->kind == FunctionKind::kernel) return *function;
  std::string names;
  for (std::string_view name : library.function_names()) {
    if (names.size() > 400) {
      names += "\n  ...";
      break;
    }
    names += fmt::format("\n  {}", name);
  }
  throw Failure{exit_usage_error, fmt::format("{} has no kernel \"{}\"; it has:{}", arguments.source.file,
                                              arguments.kernel, names.empty() ? "\n  none" : names)};
}

// "1024", "64,64" or "8,8,8".
MTL::Size parse_size(const std::string& option, const std::string& value) {
  NS::UInteger extents[3] = {1, 1, 1};
  const char* at = value.data();
  const char* end = at + value.size();
  for (int i = 0; i < 3; ++i) {
    auto [next, error] = std::from_chars(at, end, extents[i]);
    if (error != std::errc() || extents[i] == 0) break;
    if (next == end) return MTL::Size(extents[0], extents[1], extents[2]);
    if (*next != ',') break;
    at = next + 1;
  }
  throw Failure{exit_usage_error, fmt::format("{} {}: write 1024, or 64,64, or 8,8,8", option, value)};
}

NS::UInteger product(MTL::Size size) {
  return size.width * size.height * size.depth;
}

// A threadgroup for a grid when none is asked for: as wide as the grid up to a total that suits most kernels.
MTL::Size usual_group(MTL::Size grid, NS::UInteger limit) {
  NS::UInteger left = std::min<NS::UInteger>(limit, 256);
  auto take = [&](NS::UInteger extent, NS::UInteger at_most) {
    const NS::UInteger taken = std::min({extent, at_most, left});
    left /= taken;
    return taken;
  };
  const bool is_flat = grid.height == 1 && grid.depth == 1;
  const NS::UInteger width = take(grid.width, is_flat ? 256 : 16);
  const NS::UInteger height = take(grid.height, 16);
  return MTL::Size(width, height, take(grid.depth, 16));
}

const Parameter& find_parameter(const Function& kernel, const std::string& key, ParameterKind kind,
                                const std::string& option) {
  std::string known;
  for (const Parameter& parameter : kernel.parameters) {
    if (parameter.kind != kind) continue;
    if (parameter.name == key || std::to_string(parameter.index) == key) return parameter;
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", parameter.name, parameter.index);
  }
  throw Failure{exit_usage_error, fmt::format("{} {}: {} has no such argument; it has {}", option, key, kernel.name,
                                              known.empty() ? "none of that kind" : known)};
}

std::pair<std::string, std::string> split_at_equals(const std::string& option, const std::string& value) {
  const size_t equals = value.find('=');
  if (equals == std::string::npos)
    throw Failure{exit_usage_error, fmt::format("{} {}: write KEY=VALUE", option, value)};
  return {value.substr(0, equals), value.substr(equals + 1)};
}

// The element that a scalar type of function constants is made of.
const ElementType& element_type_of(DataType type, const std::string& name) {
  switch (type) {
    case DataType::float1:
      return element_type_named("f32");
    case DataType::half1:
      return element_type_named("f16");
    case DataType::bfloat1:
      return element_type_named("bf16");
    case DataType::int1:
      return element_type_named("i32");
    case DataType::uint1:
      return element_type_named("u32");
    case DataType::short1:
      return element_type_named("i16");
    case DataType::ushort1:
      return element_type_named("u16");
    case DataType::char1:
      return element_type_named("i8");
    case DataType::uchar1:
      return element_type_named("u8");
    case DataType::long1:
      return element_type_named("i64");
    case DataType::ulong1:
      return element_type_named("u64");
    case DataType::bool1:
      return element_type_named("bool");
    default:
      throw Failure{exit_usage_error,
                    fmt::format("--constant {}: constants of type {} cannot be given here", name, to_string(type))};
  }
}

NS::SharedPtr<MTL::FunctionConstantValues> constant_values(const Library& library, const RunArguments& arguments) {
  auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  for (const std::string& option : arguments.constants) {
    const auto [key, value] = split_at_equals("--constant", option);
    const auto& known = library.function_constants();
    auto constant = std::ranges::find_if(
        known, [&](const FunctionConstant& c) { return c.name == key || std::to_string(c.index) == key; });
    if (constant == known.end())
      throw Failure{exit_usage_error, fmt::format("--constant {}: {} has no function constant of that name or index",
                                                  key, arguments.source.file)};
    const ElementType& type = element_type_of(constant->data_type, key);
    std::mt19937_64 none;
    const std::string number = value == "true" ? "1" : value == "false" ? "0" : value;
    const BufferArgument parsed = parse_buffer_argument(fmt::format("{}={}:{}", key, type.name, number), none);
    values->setConstantValue(parsed.bytes.data(), static_cast<MTL::DataType>(constant->data_type),
                             NS::UInteger{constant->index});
  }
  return values;
}

struct BoundBuffer {
  BufferArgument argument;
  const Parameter* parameter;
  NS::SharedPtr<MTL::Buffer> buffer;
};

std::vector<BoundBuffer> make_buffers(MTL::Device* device, const Function& kernel, const RunArguments& arguments) {
  std::mt19937_64 random(arguments.seed);
  std::vector<BoundBuffer> bound;
  for (const std::string& option : arguments.buffers) {
    BoundBuffer buffer{parse_buffer_argument(option, random), nullptr, {}};
    buffer.parameter = &find_parameter(kernel, buffer.argument.key, ParameterKind::buffer, "--buffer");
    buffer.buffer = NS::TransferPtr(device->newBuffer(buffer.argument.bytes.size(), MTL::ResourceStorageModeShared));
    if (!buffer.buffer)
      throw Failure{exit_source_error, fmt::format("--buffer {}: the device cannot allocate {} bytes", option,
                                                   buffer.argument.bytes.size())};
    buffer.buffer->setLabel(text(buffer.parameter->name));
    std::memcpy(buffer.buffer->contents(), buffer.argument.bytes.data(), buffer.argument.bytes.size());
    bound.push_back(std::move(buffer));
  }
  return bound;
}

void require_all_arguments(const Function& kernel, const std::vector<BoundBuffer>& bound,
                           const RunArguments& arguments) {
  std::string missing;
  for (const Parameter& parameter : kernel.parameters) {
    if (!parameter.function_constant.empty()) continue;
    if (parameter.kind == ParameterKind::buffer) {
      if (std::ranges::any_of(bound, [&](const BoundBuffer& b) { return b.parameter == &parameter; })) continue;
      const bool is_output = parameter.access != Access::read;
      missing += fmt::format("\n  --buffer {}={}TYPE:{}SHAPE", parameter.name, is_output ? "out:" : "",
                             is_output ? "" : "random:");
    } else if (parameter.kind == ParameterKind::threadgroup_memory) {
      const bool is_given = std::ranges::any_of(arguments.threadgroup_memory, [&](const std::string& option) {
        const std::string key = option.substr(0, option.find('='));
        return key == parameter.name || key == std::to_string(parameter.index);
      });
      if (!is_given) missing += fmt::format("\n  --threadgroup {}=BYTES", parameter.name);
    } else if (parameter.kind != ParameterKind::grid_value) {
      throw Failure{exit_usage_error, fmt::format("{} takes a {} (\"{}\"), which cannot be given on the command line",
                                                  kernel.name, to_string(parameter.kind), parameter.name)};
    }
  }
  if (!missing.empty())
    throw Failure{exit_usage_error, fmt::format("arguments of {} are missing:{}", kernel.name, missing)};
}

// Whether shader validation had something to say about a completed command buffer.
bool has_logs(MTL::CommandBuffer* command_buffer) {
  NS::FastEnumerationState state{};
  NS::Object* objects[1];
  MTL::LogContainer* logs = command_buffer->logs();
  return logs && logs->countByEnumerating(&state, objects, 1) > 0;
}

// One kernel with everything bound, ready to be run as often as asked.
class PreparedRun {
 public:
  PreparedRun(MTL::Device* device, const RunArguments& arguments)
      : arguments_(arguments), library_(arguments.source.load()), kernel_(find_kernel(*library_, arguments)) {
    buffers_ = make_buffers(device, kernel_, arguments);
    require_all_arguments(kernel_, buffers_, arguments);

    NS::Error* error = nullptr;
    auto library = NS::TransferPtr(new_metal_library(device, library_));
    auto constants = constant_values(*library_, arguments);
    auto function = NS::TransferPtr(library->newFunction(text(arguments.kernel), constants.get(), &error));
    if (!function) fail(arguments.kernel, error);
    pipeline_ = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
    if (!pipeline_) fail(arguments.kernel, error);
    queue_ = NS::TransferPtr(device->newCommandQueue());
    queue_->setLabel(text("metalloid run"));
  }

  // The time the device took, in seconds.
  double run() {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* command_buffer = queue_->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = command_buffer->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline_.get());
    for (const BoundBuffer& bound : buffers_) encoder->setBuffer(bound.buffer.get(), 0, bound.parameter->index);
    for (const std::string& option : arguments_.threadgroup_memory) {
      const auto [key, value] = split_at_equals("--threadgroup", option);
      const Parameter& parameter = find_parameter(kernel_, key, ParameterKind::threadgroup_memory, "--threadgroup");
      encoder->setThreadgroupMemoryLength(parse_size("--threadgroup", value).width, parameter.index);
    }
    dispatch(encoder);
    encoder->endEncoding();
    command_buffer->commit();
    command_buffer->waitUntilCompleted();
    if (command_buffer->status() != MTL::CommandBufferStatusCompleted) fail(kernel_.name, command_buffer->error());
    has_reports_ = has_reports_ || has_logs(command_buffer);
    return command_buffer->GPUEndTime() - command_buffer->GPUStartTime();
  }

  void show_outputs() const {
    for (const BoundBuffer& bound : buffers_) {
      const BufferArgument& argument = bound.argument;
      if (!argument.is_output) continue;
      const char* contents = static_cast<const char*>(bound.buffer->contents());
      if (argument.save_to.empty())
        fmt::print("{} = {}\n", bound.parameter->name,
                   show_elements(*argument.type, argument.shape, contents, arguments_.limit));
      else if (argument.save_to.ends_with(".npy"))
        write_npy(argument.save_to, *argument.type, argument.shape, {contents, argument.bytes.size()});
      else
        write_output(argument.save_to, {contents, argument.bytes.size()});
    }
  }

  bool has_reports() const { return has_reports_; }

 private:
  void dispatch(MTL::ComputeCommandEncoder* encoder) const {
    const NS::UInteger limit = pipeline_->maxTotalThreadsPerThreadgroup();
    const bool counts_groups = !arguments_.threadgroups.empty();
    const MTL::Size grid =
        counts_groups ? parse_size("--threadgroups", arguments_.threadgroups) : parse_size("--grid", arguments_.grid);
    if (arguments_.group.empty() && counts_groups)
      throw Failure{exit_usage_error, "--threadgroups needs --group: the threads of a threadgroup"};
    const MTL::Size group =
        arguments_.group.empty() ? usual_group(grid, limit) : parse_size("--group", arguments_.group);
    if (product(group) > limit)
      throw Failure{exit_usage_error, fmt::format("--group has {} threads; a threadgroup of {} has at most {}",
                                                  product(group), kernel_.name, limit)};
    if (counts_groups)
      encoder->dispatchThreadgroups(grid, group);
    else
      encoder->dispatchThreads(grid, group);
  }

  const RunArguments& arguments_;
  std::shared_ptr<Library> library_;
  const Function& kernel_;
  std::vector<BoundBuffer> buffers_;
  NS::SharedPtr<MTL::ComputePipelineState> pipeline_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  bool has_reports_ = false;
};

// Captures what runs during its lifetime.
class Trace {
 public:
  Trace(MTL::Device* device, const std::string& path) {
    if (path.empty()) return;
    auto descriptor = NS::TransferPtr(MTL::CaptureDescriptor::alloc()->init());
    descriptor->setCaptureObject(device);
    descriptor->setDestination(MTL::CaptureDestinationGPUTraceDocument);
    descriptor->setOutputURL(NS::URL::fileURLWithPath(text(std::filesystem::absolute(path).string())));
    NS::Error* error = nullptr;
    if (!MTL::CaptureManager::sharedCaptureManager()->startCapture(descriptor.get(), &error)) fail(path, error);
    is_on_ = true;
  }
  ~Trace() {
    if (is_on_) MTL::CaptureManager::sharedCaptureManager()->stopCapture();
  }

 private:
  bool is_on_ = false;
};

void time_runs(PreparedRun& prepared, unsigned runs) {
  std::vector<double> times;
  for (unsigned i = 0; i < runs; ++i) times.push_back(prepared.run() * 1e3);
  std::ranges::sort(times);
  fmt::print("{} runs: median {:.4g} ms, fastest {:.4g} ms, slowest {:.4g} ms\n", runs, times[times.size() / 2],
             times.front(), times.back());
}

void run(const RunArguments& arguments) {
  if (arguments.check) {
    setenv("MTL_DEBUG_LAYER", "1", 1);
    setenv("MTL_SHADER_VALIDATION", "1", 1);
  }
  if (arguments.explain) setenv("METALLOID_EXPLAIN", "1", 1);
  if (!arguments.trace.empty()) setenv("MTL_CAPTURE_ENABLED", "1", 1);
  if (arguments.grid.empty() == arguments.threadgroups.empty())
    throw Failure{exit_usage_error, "give --grid (threads) or --threadgroups, and not both"};

  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) throw Failure{exit_file_error, "there is no Metal device"};
  PreparedRun prepared(device.get(), arguments);
  {
    Trace trace(device.get(), arguments.trace);
    prepared.run();
  }
  prepared.show_outputs();
  if (arguments.time_runs) time_runs(prepared, arguments.time_runs);
  if (prepared.has_reports())
    throw Failure{exit_source_error, fmt::format("{} does what Metal does not define; see above", arguments.kernel)};
  if (arguments.check) fmt::print("{}: nothing to report\n", arguments.kernel);
}

void add(CLI::App& app, const std::string& name, const std::string& description, bool check) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->check = check;
  CLI::App* command = app.add_subcommand(name, description);
  arguments->source.add_options(*command);
  command->add_option("KERNEL", arguments->kernel, "Which of its kernels")->required();
  command->add_option("-g,--grid", arguments->grid, "Threads of the grid: 1024 or 64,64 or 8,8,8");
  command->add_option("--threadgroups", arguments->threadgroups, "The same as a number of threadgroups");
  command->add_option("--group", arguments->group, "Threads of a threadgroup; something suitable if not given");
  auto repeatable = [&](const char* option, std::vector<std::string>& values, const char* help) {
    command->add_option(option, values, help)->allow_extra_args(false);
  };
  repeatable(
      "-b,--buffer", arguments->buffers,
      "KEY=TYPE:CONTENTS:SHAPE, the key being an argument's name or index. TYPE: f32 f16 bf16 i8 i16 i32 i64 u8 "
      "u16 u32 u64 bool. CONTENTS: random, ramp, zeros, ones, a number, or @FILE (.npy or bare numbers). An "
      "output is KEY=out:TYPE:SHAPE, saved rather than printed with :@FILE after it; inout is both. KEY=u32:1024 "
      "is one number");
  repeatable("--threadgroup", arguments->threadgroup_memory, "KEY=BYTES: threadgroup memory that is an argument");
  repeatable("--constant", arguments->constants, "KEY=VALUE: a function constant, by name or index");
  command->add_option("--seed", arguments->seed, "Of random contents; 1 if not given");
  command->add_option("--limit", arguments->limit, "How many elements of an output are printed; 64 if not given");
  if (!check) {
    command->add_option("--time", arguments->time_runs, "Run so many times more and print the device's times")
        ->check(CLI::Range(1, 1000000));
    command->add_option("--trace", arguments->trace, "Write a trace that Perfetto and chrome://tracing open");
    command->add_flag("--explain", arguments->explain,
                      "Say how many threads run at a time, and which lines keep the kernel from being faster");
    command->add_flag("--check", arguments->check,
                      "Report races, wrong accesses and barriers, as metalloid check does");
  }
  command->footer(fmt::format(
      "Examples:\n"
      "  metalloid {0} saxpy.metal saxpy --grid 1024 -b x=f32:random:1024 -b y=inout:f32:ones:1024 -b a=f32:2\n"
      "  metalloid {0} k.metallib softmax --threadgroups 8 --group 256 -b 0=@x.npy -b 1=out:f32:8x1024:@y.npy\n\n{1}\n",
      name, exit_code_help));
  command->callback([arguments] { run(*arguments); });
}

}  // namespace

void add_run(CLI::App& app) {
  add(app, "run", "Run a kernel on arguments from the command line", false);
}

void add_check(CLI::App& app) {
  add(app, "check", "Run a kernel and report what it does wrong: races, bad accesses, barriers", true);
}

}  // namespace metalloid::tool
