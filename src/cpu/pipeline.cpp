#include "cpu/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cpu/limits.hpp"

namespace metalloid::cpu {

namespace {

Result<uint32_t> max_threads(const device::PipelineRequest& request, const Function& kernel) {
  const uint32_t asked = request.max_threads_per_threadgroup.value_or(max_threads_per_threadgroup);
  if (asked == 0 || asked > max_threads_per_threadgroup)
    return Error{fmt::format("'{}' cannot be made for threadgroups of {} threads: the device has at most {}",
                             kernel.name, asked, max_threads_per_threadgroup)};
  return std::min(asked, kernel.max_total_threads_per_threadgroup.value_or(max_threads_per_threadgroup));
}

}  // namespace

Result<std::shared_ptr<Pipeline>> Pipeline::make(std::shared_ptr<Loader> loader,
                                                 const device::PipelineRequest& request) {
  const std::string& name = request.kernel.name;
  const Function* kernel = request.kernel.library->find(name);
  if (!kernel) return Error{fmt::format("the library has no function '{}'", name)};
  if (kernel->kind != FunctionKind::kernel)
    return Error{fmt::format("'{}' is a visible function; a pipeline is made from a kernel", name)};
  auto threads = max_threads(request, *kernel);
  if (!threads) return Error{threads.error()};

  auto pipeline = std::make_shared<Pipeline>();
  pipeline->name = name;
  pipeline->max_threads_per_threadgroup = *threads;
  pipeline->slots = device::argument_slots(*kernel, *request.kernel.library, request.kernel.constants);
  for (const device::SpecialisedFunction& function : request.linked) pipeline->linked_.push_back(function.name);

  if (request.validate)
    for (const device::Slot& slot : pipeline->slots)
      pipeline->slot_names_.push_back(kernel->parameters[slot.parameter].name);

  auto object = object_code(request, pipeline->slots);
  if (!object) return Error{object.error()};
  auto code = LoadedCode::load(std::move(loader), *object, request.linked.size(), request.validate);
  if (!code) return Error{code.error()};
  pipeline->code_ = std::move(*code);
  const bool* uses_argument = pipeline->threadgroup_layout().uses_argument;
  for (size_t i = 0; i < pipeline->slots.size(); ++i) pipeline->slots[i].used = uses_argument[i];
  const uint64_t memory = pipeline->threadgroup_layout().threadgroup_bytes;
  if (memory > max_threadgroup_memory)
    return Error{fmt::format("'{}' needs {} bytes of threadgroup memory; the device has {}", name, memory,
                             max_threadgroup_memory)};
  pipeline->static_threadgroup_memory = static_cast<uint32_t>(memory);
  return pipeline;
}

uint64_t Pipeline::function_address(std::string_view name) const {
  const auto function = std::ranges::find(linked_, name);
  return function == linked_.end() ? 0 : code_->visible_functions[static_cast<size_t>(function - linked_.begin())];
}

}  // namespace metalloid::cpu
