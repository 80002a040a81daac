#include "nvidia/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "nvidia/ahead.hpp"

namespace metalloid::nvidia {

namespace {

constexpr Assumptions usual{.is_even = true, .are_buffers_apart = true};
constexpr uint64_t buffer_alignment = 16;

Result<uint32_t> max_threads(const device::PipelineRequest& request, const Function& kernel, uint32_t most) {
  const uint32_t asked = request.max_threads_per_threadgroup.value_or(most);
  if (asked == 0 || asked > most)
    return Error{fmt::format("'{}' cannot be made for threadgroups of {} threads: the device has at most {}",
                             kernel.name, asked, most)};
  return std::min(asked, kernel.max_total_threads_per_threadgroup.value_or(most));
}

}  // namespace

Result<std::shared_ptr<Pipeline>> Pipeline::make(std::shared_ptr<Gpu> gpu, const device::PipelineRequest& request) {
  const std::string& name = request.kernel.name;
  const Function* kernel = request.kernel.library->find(name);
  if (!kernel) return Error{fmt::format("the library has no function '{}'", name)};
  if (kernel->kind != FunctionKind::kernel)
    return Error{fmt::format("'{}' is a visible function; a pipeline is made from a kernel", name)};
  auto threads = max_threads(request, *kernel, gpu->properties.max_threads_per_threadgroup);
  if (!threads) return Error{threads.error()};

  std::shared_ptr<Pipeline> pipeline(new Pipeline(gpu, request));
  pipeline->name = name;
  pipeline->slots = device::argument_slots(*kernel, request.kernel.constants);
  Variant& variant = pipeline->variants_[usual.place()];
  if (auto compiled = pipeline->compile(variant, usual); !compiled) return Error{compiled.error()};
  // An archive is to hold all that the pipeline may need.
  if (!request.archives.empty())
    for (const Assumptions& other : Assumptions::all)
      if (other != usual)
        if (auto compiled = pipeline->compile(pipeline->variants_[other.place()], other); !compiled)
          return Error{compiled.error()};
  for (size_t i = 0; i < pipeline->slots.size(); ++i) pipeline->slots[i].used = variant.code->uses_argument[i];
  pipeline->writes_ = variant.code->writes_argument;

  const uint32_t memory = variant.code->static_threadgroup_memory;
  if (memory > gpu->properties.max_threadgroup_memory)
    return Error{fmt::format("'{}' needs {} bytes of threadgroup memory; the device has {}", name, memory,
                             gpu->properties.max_threadgroup_memory)};
  pipeline->static_threadgroup_memory = memory;

  auto use = gpu->use();
  if (!use) return Error{use.error()};
  if (auto loaded = pipeline->load(*use, variant, std::nullopt); !loaded) return Error{loaded.error()};
  int most = 0;
  if (const cuda::Code code =
          gpu->driver.get_function_attribute(&most, cuda::FunctionAttribute::max_threads_per_block, variant.function);
      code != cuda::Code::success)
    return Error{fmt::format("the driver does not know '{}': {}", name, gpu->driver.describe(code))};
  pipeline->max_threads_per_threadgroup = std::min(*threads, static_cast<uint32_t>(most));
  return pipeline;
}

Pipeline::~Pipeline() {
  auto use = gpu_->use();
  if (!use) return;
  std::lock_guard lock(gpu_->modules.mutex);
  for (const Variant& variant : variants_)
    if (variant.module && variant.generation == use->generation()) {
      use->driver().unload_module(variant.module);
      ++gpu_->modules.unloaded;
    }
}

uint64_t Pipeline::function_address(std::string_view name) const {
  const auto function = std::ranges::find(request_.linked, name, &device::SpecialisedFunction::name);
  if (function == request_.linked.end()) return 0;
  return visible_function_handle(static_cast<size_t>(function - request_.linked.begin()));
}

bool Pipeline::are_apart(std::span<const uint64_t> addresses, std::span<const device::Argument> arguments) const {
  const auto is_given = [&](size_t i) {
    return slots[i].kind == ParameterKind::buffer && slots[i].used && addresses[i] != 0;
  };
  const auto overlap = [&](size_t i, size_t k) {
    return addresses[i] < addresses[k] + arguments[k].length && addresses[k] < addresses[i] + arguments[i].length;
  };
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!is_given(i)) continue;
    if (addresses[i] % buffer_alignment != 0) return false;
    for (size_t k = 0; writes_[i] && k < slots.size(); ++k)
      if (k != i && is_given(k) && overlap(i, k)) return false;
  }
  return true;
}

Result<Pipeline::Code> Pipeline::code(const Gpu::Use& use, const Assumptions& assumptions) const {
  std::lock_guard lock(mutex_);
  Variant& variant = variants_[assumptions.place()];
  const auto loaded_code = [&] {
    const CompiledKernel& compiled = *variant.code;
    return Code{variant.function, &compiled.log_sites, variant.serial,
                compiled.variables_are_dynamic ? compiled.static_threadgroup_memory : 0};
  };
  if (variant.generation == use.generation()) return loaded_code();
  if (!variant.code)
    if (auto compiled = compile(variant, assumptions); !compiled) return Error{compiled.error()};
  // All variants run what the first one was said to run.
  if (auto loaded = load(use, variant, max_threads_per_threadgroup); !loaded) return Error{loaded.error()};
  return loaded_code();
}

Status Pipeline::compile(Variant& variant, const Assumptions& assumptions) const {
  device::PipelineRequest request = request_;
  const auto ready = std::make_shared<LibraryCode>(*request.kernel.library);
  if (!request.kernel.library->device_code().empty()) request.archives.insert(request.archives.begin(), ready);
  auto compiled = nvidia::compile(request, slots, gpu_->properties.architecture, assumptions);
  if (!ready->error().empty()) return Error{ready->error()};
  if (!compiled) return Error{compiled.error()};
  variant.cubin = ready->cubin();
  variant.code = std::move(*compiled);
  return success();
}

Status Pipeline::load(const Gpu::Use& use, Variant& variant, std::optional<uint32_t> threads) const {
  const Driver& driver = use.driver();
  const std::string& image = variant.cubin.empty() ? variant.code->ptx : variant.cubin;
  std::string log(8192, '\0');
  std::vector options{cuda::JitOption::error_log, cuda::JitOption::error_log_bytes};
  std::vector<void*> values{log.data(), reinterpret_cast<void*>(log.size())};
  if (threads && variant.cubin.empty()) {
    options.push_back(cuda::JitOption::threads_per_block);
    values.push_back(reinterpret_cast<void*>(uintptr_t{*threads}));
  }
  if (const cuda::Code code = driver.load_module(&variant.module, image.c_str(), static_cast<unsigned>(options.size()),
                                                 options.data(), values.data());
      code != cuda::Code::success)
    return Error{fmt::format("the driver does not take '{}': {}\n{}", name, driver.describe(code), log.c_str())};
  cuda::Code code = driver.get_function(&variant.function, variant.module, std::string(entry_symbol).c_str());
  int in_module = 0;
  if (code == cuda::Code::success)
    code = driver.get_function_attribute(&in_module, cuda::FunctionAttribute::static_shared_memory, variant.function);
  // Without asking, there are 48 KB.
  if (code == cuda::Code::success)
    code = driver.set_function_attribute(variant.function, cuda::FunctionAttribute::max_dynamic_shared_memory,
                                         static_cast<int>(gpu_->properties.max_threadgroup_memory) - in_module);
  if (code != cuda::Code::success) {
    driver.unload_module(variant.module);
    variant.module = nullptr;
    return Error{fmt::format("the driver cannot prepare '{}': {}", name, driver.describe(code))};
  }
  static std::atomic<uint64_t> loaded = 0;
  variant.serial = ++loaded;
  variant.generation = use.generation();
  return success();
}

}  // namespace metalloid::nvidia
