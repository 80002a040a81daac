#include "cpu/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bitcode/function_pointers.hpp"
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

// What the environment asks for.
struct Choice {
  bool is_vector = false;
  vector::Variant variant{.width = vector::any_width};
};

Result<Choice> choose_engine() {
  Choice choice;
  const char* engine = std::getenv("METALLOID_ENGINE");
  const std::string_view name = engine ? engine : "";
  if (!name.empty() && name != "reference" && name != "vector")
    return Error{fmt::format("METALLOID_ENGINE is '{}'; it can be 'vector' or 'reference'", name)};
  choice.is_vector = name != "reference";
  if (const char* width = std::getenv("METALLOID_WIDTH"); width && *width) {
    const auto* known =
        std::ranges::find_if(vector::widths, [&](uint32_t lanes) { return std::to_string(lanes) == width; });
    if (known == vector::widths.end())
      return Error{fmt::format("METALLOID_WIDTH is '{}'; it can be 256, 128, 64, 32, 16, 8 or 1", width)};
    choice.variant.width = *known;
  }
  return choice;
}

bool wants_explanation() {
  const char* explain = std::getenv("METALLOID_EXPLAIN");
  return explain && std::string_view(explain) == "1";
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
  pipeline->slots = device::argument_slots(*kernel, request.kernel.constants);
  for (const device::SpecialisedFunction& function : request.linked) pipeline->linked_.push_back(function.name);

  if (request.validate)
    for (const device::Slot& slot : pipeline->slots)
      pipeline->slot_names_.push_back(kernel->parameters[slot.parameter].name);

  if (auto compiled = pipeline->compile(std::move(loader), request); !compiled) return Error{compiled.error()};
  const bool* uses_argument = pipeline->threadgroup_layout().uses_argument;
  for (size_t i = 0; i < pipeline->slots.size(); ++i) pipeline->slots[i].used = uses_argument[i];
  pipeline->static_threadgroup_memory = static_cast<uint32_t>(pipeline->threadgroup_layout().source_bytes);
  return pipeline;
}

Status Pipeline::compile(std::shared_ptr<Loader> loader, const device::PipelineRequest& request) {
  auto choice = choose_engine();
  if (!choice) return Error{choice.error()};
  auto processor = host_processor();
  if (!processor) return Error{processor.error()};
  const bool is_vector = choice->is_vector && !request.validate;
  if (wants_explanation()) {
    Result<std::string> text = is_vector ? explain(request, slots, choice->variant, *processor)
                                         : fmt::format("{}: on the reference engine, one thread at a time\n", name);
    if (!text) return Error{text.error()};
    fmt::print(stderr, "{}", *text);
  }
  if (is_vector) {
    auto variants = vector::Variants::make(loader, request, slots, choice->variant, *processor);
    if (!variants) return Error{variants.error()};
    if ((*variants)->width() != vector::each_thread_by_itself) {
      variants_ = std::move(*variants);
      engine = "vector";
      return success();
    }
  }
  auto object = object_code(request, slots, nullptr, *processor);
  if (!object) return Error{object.error()};
  auto code = LoadedCode::load(std::move(loader), *object, request.linked.size(), request.validate);
  if (!code) return Error{code.error()};
  code_ = std::move(*code);
  engine = "reference";
  return success();
}

uint64_t Pipeline::function_address(std::string_view name) const {
  const auto function = std::ranges::find(linked_, name);
  if (function == linked_.end()) return 0;
  const auto place = static_cast<size_t>(function - linked_.begin());
  return is_vector() ? bitcode::handle_of_visible_function(place) : code_->visible_functions[place];
}

}  // namespace metalloid::cpu
