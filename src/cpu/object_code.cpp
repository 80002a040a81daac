#include "cpu/object_code.hpp"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <optional>

#include "bitcode/code_key.hpp"
#include "bitcode/function_pointers.hpp"
#include "bitcode/prepare.hpp"
#include "bitcode/total_division.hpp"
#include "cache/disk_cache.hpp"
#include "cpu/limits.hpp"
#include "cpu/lower/entry.hpp"
#include "cpu/lower/exponentials.hpp"
#include "cpu/lower/scaling.hpp"
#include "cpu/lower/thread_values.hpp"
#include "cpu/lower/threadgroup_memory.hpp"
#include "cpu/optimise.hpp"
#include "cpu/reference/meetings_pass.hpp"
#include "cpu/reference/turns_pass.hpp"
#include "cpu/runtime_symbols.hpp"
#include "cpu/textures/texture_calls.hpp"
#include "cpu/validation/instrument.hpp"
#include "cpu/vector/explanation.hpp"
#include "cpu/vector/group_loop.hpp"
#include "cpu/vector/groups.hpp"
#include "cpu/vector/inline_calls.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/passes.hpp"
#include "cpu/vector/split_counters.hpp"
#include "cpu/vector/target.hpp"
#include "cpu/vector/vectorise.hpp"
#include "cpu/vector/width.hpp"

namespace metalloid::cpu {

namespace {

void add_to_key(cache::CacheKey& key, const vector::Variant* variant) {
  if (!variant) return void(key.add("reference"));
  key.add("vector").add(fmt::format("{} {} {} {} {} {} {} {} {}", variant->width, static_cast<int>(variant->positions),
                                    variant->log2_x, variant->log2_y, variant->is_aligned, variant->is_partial,
                                    variant->if_cheaper, variant->is_whole, variant->streams));
}

Result<cache::CacheKey> key_of(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                               const vector::Variant* variant, const Processor& processor) {
  auto key = bitcode::key_of(compiler_fingerprint(), request, slots);
  if (!key) return key;
  key->add("cpu").add(processor.key()).add(request.validate ? "validate" : "");
  add_to_key(*key, variant);
  return key;
}

// Names that mean nothing to LLVM: a kernel may be called `memcpy`.
void rename(const bitcode::Prepared& prepared) {
  prepared.kernel->setName("metalloid.kernel");
  for (size_t i = 0; i < prepared.linked.size(); ++i) prepared.linked[i]->setName(visible_function_symbol(i));
}

// A byte for each slot: 1 if the kernel does something with that argument.
std::string uses_of_arguments(const llvm::Function& kernel, std::span<const device::Slot> slots) {
  std::string uses;
  for (const device::Slot& slot : slots) uses += kernel.getArg(slot.parameter)->use_empty() ? '\0' : '\1';
  return uses;
}

llvm::GlobalVariable* add_bytes(llvm::Module& module, llvm::StringRef text) {
  auto* bytes = llvm::ConstantDataArray::getString(module.getContext(), text, /*AddNull=*/false);
  auto* global = new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes);
  global->setAlignment(llvm::Align(16));
  return global;
}

// Members of ObjectLayout.
struct Traits {
  uint64_t source_bytes;
  uint32_t width = vector::each_thread_by_itself, lanes_of_streams = width, least_width = width;
  std::vector<Stride> strides = {};
  bool keeps_order = true, needs_fibers = true, runs_many_groups = false, spans_threadgroups = false;
};

void add_layout(llvm::Module& module, const lower::ThreadgroupLayout& layout, const std::string& uses,
                const Traits& traits) {
  llvm::LLVMContext& context = module.getContext();
  auto number = [&](unsigned bits, uint64_t value) {
    return llvm::ConstantInt::get(llvm::IntegerType::get(context, bits), value);
  };
  const llvm::StringRef strides(reinterpret_cast<const char*>(traits.strides.data()),
                                traits.strides.size() * sizeof(Stride));
  auto* description = llvm::ConstantStruct::getAnon(
      {number(64, layout.bytes), number(64, layout.initial.size()), add_bytes(module, layout.initial),
       add_bytes(module, uses), number(64, traits.source_bytes), number(32, traits.width),
       number(32, traits.lanes_of_streams), number(32, traits.least_width), add_bytes(module, strides),
       number(64, traits.strides.size()), number(8, traits.keeps_order), number(8, traits.needs_fibers),
       number(8, traits.runs_many_groups), number(8, traits.spans_threadgroups)});
  new llvm::GlobalVariable(module, description->getType(), true, llvm::GlobalValue::ExternalLinkage, description,
                           layout_symbol);
}

// LLVM prints what it has to say, unless it is told otherwise; its warnings are about its own business, and so is what
// it remarks, but for registers that it runs out of.
class DiagnosticHandler final : public llvm::DiagnosticHandler {
 public:
  DiagnosticHandler(std::string& problem, vector::Explanation* explanation)
      : problem_(problem), explanation_(explanation) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(problem_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    } else if (const auto* remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info);
               remark && explanation_ && remark->getPassName() == registers) {
      explanation_->note_spills(*remark);
    }
    return true;
  }

  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return explanation_ && pass == registers; }
  bool isAnyRemarkEnabled() const override { return explanation_; }

 private:
  static constexpr llvm::StringLiteral registers = "regalloc";
  std::string& problem_;
  vector::Explanation* const explanation_;
};

Status verify(const llvm::Module& module, const std::string& kernel) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream))
    return Error{fmt::format("internal error: the lowered code of '{}' is not valid: {}", kernel, problem)};
  return success();
}

// Before anything is compiled for nothing.
Status check_threadgroup_memory(const llvm::Module& module, const std::string& kernel) {
  const uint64_t bytes = lower::threadgroup_bytes(module);
  if (bytes <= max_threadgroup_memory) return success();
  return Error{fmt::format("'{}' needs {} bytes of threadgroup memory; the device has {}", kernel, bytes,
                           max_threadgroup_memory)};
}

// Everything that is called has a body: in the module, or in the runtime.
Status find_bodies(const llvm::Module& module, const std::string& kernel) {
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !RuntimeSymbols::all().find(function.getName()))
      return Error{fmt::format("'{}' uses '{}', which the CPU device does not have", kernel, function.getName().str())};
  return success();
}

// A module on its way to machine code.
struct Compilation {
  const device::PipelineRequest& request;
  std::span<const device::Slot> slots;
  llvm::TargetMachine& machine;
  const bitcode::Prepared& prepared;

  const std::string& name() const { return request.kernel.name; }
  const Function& reflection() const { return *request.kernel.library->find(name()); }
  llvm::Module& module() const { return *prepared.module; }
};

Status compile_for_reference_engine(const Compilation& kernel) {
  llvm::Module& module = kernel.module();
  const std::string uses = uses_of_arguments(*kernel.prepared.kernel, kernel.slots);
  rename(kernel.prepared);
  retarget(module, kernel.machine);
  std::optional<validation::SiteTableBuilder> sites;
  if (kernel.request.validate) {
    sites.emplace(*kernel.prepared.kernel, kernel.prepared.linked, kernel.slots);
    validation::instrument(*kernel.prepared.kernel, kernel.prepared.linked, *sites);
  }
  lower::make_entry(*kernel.prepared.kernel, kernel.reflection(), kernel.slots, nullptr);
  lower::lower_thread_builtins(module, nullptr);
  lower::expand_exponentials(module);
  lower::expand_scaling(module);
  bitcode::make_division_total(module);
  if (auto fits = check_threadgroup_memory(module, kernel.name()); !fits) return fits;
  const lower::ThreadgroupLayout layout = lower::lower_threadgroup_memory(module);
  add_layout(module, layout, uses, {.source_bytes = layout.bytes});
  if (sites) sites->write(module, layout);
  reference::insert_turns(module);
  reference::lower_meetings(module);
  if (auto valid = verify(module, kernel.name()); !valid) return valid;
  llvm::StripDebugInfo(module);
  optimise(module, kernel.machine);
  return success();
}

// What lanes do together is not there for a lane by itself, as which recursive functions are called.
Status find_group_calls_of_one_lane(const llvm::Module& module, const std::string& kernel) {
  for (const llvm::Function& function : module)
    if (!function.use_empty() && vector::is_group_function(function.getName()))
      return Error{
          fmt::format("'{}' calls '{}' in a recursive function, where the lanes of a SIMD-group are apart; make "
                      "a loop of the recursion",
                      kernel, function.getName().str())};
  return success();
}

bool calls(const llvm::Module& module, llvm::StringRef name) {
  const llvm::Function* function = module.getFunction(name);
  return function && !function->use_empty();
}

// Whether a thread can tell which threadgroup it is in.
bool knows_threadgroup(const Function& reflection) {
  return llvm::any_of(reflection.parameters, [](const Parameter& parameter) {
    if (parameter.kind == ParameterKind::threadgroup_memory) return true;
    if (parameter.kind != ParameterKind::grid_value) return false;
    switch (parameter.grid_value) {
      case GridValue::thread_position_in_grid:
      case GridValue::threads_per_grid:
      case GridValue::grid_size:
      case GridValue::thread_index_in_simdgroup:
      case GridValue::thread_index_in_quadgroup:
      case GridValue::threads_per_simdgroup:
      case GridValue::thread_execution_width:
        return false;
      default:
        return true;
    }
  });
}

Status compile_for_vector_engine(const Compilation& kernel, const vector::Variant& variant, vector::WidthChoice* choice,
                                 vector::Explanation* explanation) {
  llvm::Module& module = kernel.module();
  const std::string uses = uses_of_arguments(*kernel.prepared.kernel, kernel.slots);
  rename(kernel.prepared);
  retarget(module, kernel.machine);
  bitcode::resolve_function_pointers(module, kernel.prepared.linked);
  lower::make_entry(*kernel.prepared.kernel, kernel.reflection(), kernel.slots, &variant);
  textures::leave_out_bodies(module);
  vector::inline_calls(module);
  lower::lower_thread_builtins(module, &variant);
  const bool has_exponentials = lower::has_exponential_instructions(*module.getFunction(lower::entry_name));
  if (!has_exponentials) lower::expand_exponentials(module);
  if (!vector::has_feature(*module.getFunction(lower::entry_name), "avx512f")) lower::expand_scaling(module);
  bitcode::make_division_total(module);
  if (auto fits = check_threadgroup_memory(module, kernel.name()); !fits) return fits;
  const uint64_t source_bytes = lower::threadgroup_bytes(module);
  vector::split_counters(module);
  const lower::ThreadgroupLayout layout = lower::lower_threadgroup_memory(module);
  if (auto valid = verify(module, kernel.name()); !valid) return valid;
  const uint32_t least_width = vector::least_width(*module.getFunction(lower::entry_name)).width;
  if (auto vectorised = vector::vectorise(module, variant, kernel.machine, choice, explanation); !vectorised)
    return vectorised;
  if (choice && choice->width != variant.width) return success();
  if (has_exponentials) lower::expand_exponentials_to_instructions(module);
  textures::lower_calls(module);
  if (auto found = find_group_calls_of_one_lane(module, kernel.name()); !found) {
    if (!choice) return found;
    *choice = {vector::each_thread_by_itself, "a recursive function calls functions of SIMD-groups"};
    return success();
  }
  const llvm::Function& entry = *module.getFunction(lower::entry_name);
  const bool waits_in_loops = calls(module, vector::turn_function), runs_many_groups = vector::runs_many_groups(entry);
  add_layout(module, layout, uses,
             {.source_bytes = source_bytes,
              .width = variant.width,
              .lanes_of_streams = vector::lanes_of_streams(entry).value_or(variant.width),
              .least_width = least_width,
              .strides = choice ? choice->strides : std::vector<Stride>(),
              .keeps_order = waits_in_loops,
              .needs_fibers = waits_in_loops || calls(module, vector::barrier_function),
              .runs_many_groups = runs_many_groups,
              .spans_threadgroups = runs_many_groups && layout.bytes == 0 && !knows_threadgroup(kernel.reflection())});
  return success();
}

// With `choice`, there is no code if another width suits the kernel better. With `explanation`, that is made on the
// way.
Result<std::string> compile(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                            const vector::Variant* variant, const Processor& processor, vector::WidthChoice* choice,
                            vector::Explanation* explanation) {
  auto machine = make_target_machine(processor);
  if (!machine) return Error{machine.error()};
  llvm::LLVMContext context;
  std::string problem;
  context.setDiagnosticHandler(std::make_unique<DiagnosticHandler>(problem, explanation));
  auto prepared = bitcode::prepare(context, request);
  if (!prepared) return Error{prepared.error()};

  const Compilation kernel{request, slots, **machine, *prepared};
  auto compiled =
      variant ? compile_for_vector_engine(kernel, *variant, choice, explanation) : compile_for_reference_engine(kernel);
  if (!compiled) return Error{compiled.error()};
  if (choice && choice->width != variant->width) return std::string();
  if (auto found = find_bodies(kernel.module(), kernel.name()); !found) return Error{found.error()};
  auto code = generate_code(kernel.module(), kernel.machine);
  if (!problem.empty()) return Error{fmt::format("'{}' cannot be compiled: {}", kernel.name(), problem)};
  return code;
}

// For groups of several SIMD-groups, or, if they cannot go together, of one.
Result<std::string> compile_for_wide_groups(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                                            vector::Variant variant, const Processor& processor,
                                            vector::WidthChoice choice, vector::Explanation* explanation) {
  auto code = compile(request, slots, &variant, processor, &choice, explanation);
  if (!code || choice.width == variant.width) return code;
  variant.width = choice.width;
  return compile(request, slots, &variant, processor, nullptr, explanation);
}

// Most kernels run best in 32 lanes; compiling them so finds out which do not.
Result<std::string> compile_at_best_width(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                                          vector::Variant variant, const Processor& processor,
                                          vector::Explanation* explanation) {
  vector::WidthChoice choice;
  variant.width = vector::lanes_of_simdgroup;
  auto code = compile(request, slots, &variant, processor, &choice, explanation);
  if (!code || choice.width == variant.width) return code;
  if (choice.width == vector::each_thread_by_itself)
    return compile(request, slots, nullptr, processor, nullptr, nullptr);
  variant.width = choice.width;
  if (variant.width > vector::lanes_of_simdgroup)
    return compile_for_wide_groups(request, slots, variant, processor, choice, explanation);
  // What there is to say about one thread at a time is why there are not more.
  return compile(request, slots, &variant, processor, nullptr, choice.width == 1 ? nullptr : explanation);
}

Result<std::string> compile(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                            const vector::Variant* variant, const Processor& processor,
                            vector::Explanation* explanation = nullptr) {
  if (variant && variant->width == vector::any_width)
    return compile_at_best_width(request, slots, *variant, processor, explanation);
  if (variant && variant->if_cheaper && !variant->is_partial) {
    vector::WidthChoice choice{variant->width, {}};
    return compile(request, slots, variant, processor, &choice, explanation);
  }
  if (variant && variant->width > vector::lanes_of_simdgroup && vector::is_first(*variant))
    return compile_for_wide_groups(request, slots, *variant, processor,
                                   {variant->width, std::string(vector::environment_says_so)}, explanation);
  return compile(request, slots, variant, processor, nullptr, explanation);
}

}  // namespace

std::string visible_function_symbol(size_t place) {
  return "metalloid.visible." + std::to_string(place);
}

Result<std::string> object_code(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                                const vector::Variant* variant, const Processor& processor) {
  auto key = key_of(request, slots, variant, processor);
  if (!key) return Error{key.error()};
  const std::string name = key->hex();
  for (const auto& archive : request.archives)
    if (auto code = archive->load(name)) return std::move(*code);
  if (request.only_from_archives)
    return Error{
        fmt::format("'{}' is in none of the binary archives, and compiling it was ruled out", request.kernel.name)};

  cache::DiskCache& disk = cache::DiskCache::shared();
  Result<std::string> code = Error{};
  if (auto kept = disk.load(*key)) {
    code = std::move(*kept);
  } else {
    code = compile(request, slots, variant, processor);
    if (!code) return code;
    disk.store(*key, *code);
  }
  for (const auto& archive : request.archives) archive->store(name, *code);
  return code;
}

Result<std::string> explain(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                            const vector::Variant& variant, const Processor& processor) {
  vector::Explanation explanation(request.kernel.name);
  explanation.choose(variant.width, std::string(vector::environment_says_so));
  auto code = compile(request, slots, &variant, processor, &explanation);
  if (!code) return Error{code.error()};
  return explanation.text();
}

}  // namespace metalloid::cpu
