#include "nvidia/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace metalloid::nvidia {

namespace {

constexpr Assumptions usual{.is_even = true};

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
  pipeline->slots = device::argument_slots(*kernel, *request.kernel.library, request.kernel.constants);
  Variant& variant = pipeline->variants_[usual.is_even];
  if (auto compiled = pipeline->compile(variant, usual); !compiled) return Error{compiled.error()};
  // An archive is to hold all that the pipeline may need.
  if (!request.archives.empty())
    if (auto compiled = pipeline->compile(pipeline->variants_[!usual.is_even], {}); !compiled)
      return Error{compiled.error()};
  for (size_t i = 0; i < pipeline->slots.size(); ++i) pipeline->slots[i].used = variant.code->uses_argument[i];

  const uint32_t memory = variant.code->static_threadgroup_memory;
  if (memory > gpu->properties.max_threadgroup_memory)
    return Error{fmt::format("'{}' needs {} bytes of threadgroup memory; the device has {}", name, memory,
                             gpu->properties.max_threadgroup_memory)};
  pipeline->static_threadgroup_memory = memory;

  auto use = gpu->use();
  if (!use) return Error{use.error()};
  if (auto loaded = pipeline->load(*use, variant); !loaded) return Error{loaded.error()};
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
  for (const Variant& variant : variants_)
    if (variant.module && variant.generation == use->generation()) use->driver().unload_module(variant.module);
}

uint64_t Pipeline::function_address(std::string_view name) const {
  const auto function = std::ranges::find(request_.linked, name, &device::SpecialisedFunction::name);
  if (function == request_.linked.end()) return 0;
  return visible_function_handle(static_cast<size_t>(function - request_.linked.begin()));
}

Result<Pipeline::Code> Pipeline::code(const Gpu::Use& use, const Assumptions& assumptions) const {
  std::lock_guard lock(mutex_);
  Variant& variant = variants_[assumptions.is_even];
  if (variant.generation == use.generation()) return Code{variant.function, &variant.code->log_sites};
  if (!variant.code)
    if (auto compiled = compile(variant, assumptions); !compiled) return Error{compiled.error()};
  if (auto loaded = load(use, variant); !loaded) return Error{loaded.error()};
  return Code{variant.function, &variant.code->log_sites};
}

Status Pipeline::compile(Variant& variant, const Assumptions& assumptions) const {
  auto compiled = nvidia::compile(request_, slots, gpu_->properties.architecture, assumptions);
  if (!compiled) return Error{compiled.error()};
  variant.code = std::move(*compiled);
  return success();
}

Status Pipeline::load(const Gpu::Use& use, Variant& variant) const {
  const Driver& driver = use.driver();
  std::string log(8192, '\0');
  std::array options{cuda::JitOption::error_log, cuda::JitOption::error_log_bytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  if (const cuda::Code code =
          driver.load_module(&variant.module, variant.code->ptx.c_str(), options.size(), options.data(), values.data());
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
  variant.generation = use.generation();
  return success();
}

}  // namespace metalloid::nvidia
