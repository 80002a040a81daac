#include "nvidia/lower/kernel.hpp"

#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include <mutex>

#include "bitcode/analyses.hpp"
#include "bitcode/builtin_bodies.hpp"
#include "bitcode/called_functions.hpp"
#include "bitcode/function_pointers.hpp"
#include "bitcode/prepare.hpp"
#include "bitcode/private_arrays.hpp"
#include "nvidia/lower/passes.hpp"
#include "nvidia/lower/retarget.hpp"
#include "nvidia/lower/threadgroup_memory.hpp"
#include "nvidia/lower/wide_accesses.hpp"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace metalloid::nvidia::lower {

namespace {

// The oldest version of PTX that has all we use of an architecture.
const char* ptx_feature(const Architecture& architecture) {
  if (architecture.capability >= 120) return "+ptx87";
  return architecture.capability >= 100 ? "+ptx86" : "+ptx78";
}

Status verify(const llvm::Module& module, const std::string& kernel) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream))
    return Error{fmt::format("internal error: the lowered code of '{}' is not valid: {}", kernel, problem)};
  return success();
}

Status find_bodies(const llvm::Module& module, const std::string& kernel) {
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return Error{
          fmt::format("'{}' uses '{}', which the NVIDIA device does not have", kernel, function.getName().str())};
  return success();
}

// Names that mean nothing to LLVM or PTX: a kernel may be called `memcpy` or have characters that PTX does not know.
void rename(bitcode::Prepared& prepared) {
  prepared.kernel->setName("metalloid_kernel");
  for (size_t i = 0; i < prepared.linked.size(); ++i)
    prepared.linked[i]->setName("metalloid_visible_" + std::to_string(i));
  for (llvm::GlobalVariable& variable : prepared.module->globals())
    variable.setName(variable.hasInitializer() ? "metalloid_variable" : variable.getName());
}

// All but accesses to textures from several places: each is long, and of a filter that samples 16 times LLVM alone made
// PTX in 5.4 s instead of 0.4.
void inline_calls(llvm::Module& module, bitcode::Analyses& analyses) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.getCallingConv() == llvm::CallingConv::PTX_Kernel) continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    const bool stays = bitcode::is_called(function) ||
                       (bitcode::accesses_texture(function.getName()) && function.hasNUsesOrMore(2));
    function.removeFnAttr(stays ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
    function.addFnAttr(stays ? llvm::Attribute::NoInline : llvm::Attribute::AlwaysInline);
  }
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.run(module, analyses.modules);
}

// Variables of a thread that hold pointers go, so that it is seen what is accessed through them.
void show_pointers(llvm::Function& entry, bitcode::Analyses& analyses) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.run(entry, analyses.functions);
}

void optimise(llvm::Module& module, llvm::PassBuilder& builder, bitcode::Analyses& analyses) {
  builder.registerVectorizerStartEPCallback([](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(bitcode::GuardPrivateArrays());
  });
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, analyses.modules);
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Architecture& architecture) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target) return Error{"LLVM has no code generator for NVIDIA's GPUs: " + problem};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // only what the code's own flags allow
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, architecture.name(), ptx_feature(architecture), options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine) return Error{"LLVM could not set up its code generator for " + architecture.name()};
  return machine;
}

Result<LoweredKernel> lower_kernel(llvm::LLVMContext& context, const device::PipelineRequest& request,
                                   std::span<const device::Slot> slots, const Architecture& architecture,
                                   const Assumptions& assumptions, llvm::TargetMachine& machine) {
  const std::string& name = request.kernel.name;
  auto loaded = bitcode::prepare(context, request);
  if (!loaded) return Error{loaded.error()};
  bitcode::Prepared prepared = retarget(std::move(*loaded), machine);
  llvm::Module& module = *prepared.module;
  rename(prepared);

  CompiledKernel result;
  for (const device::Slot& slot : slots)
    result.uses_argument.push_back(!prepared.kernel->getArg(slot.parameter)->use_empty());

  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = false;  // lanes are the hardware's
  llvm::PassBuilder builder(&machine, tuning);
  bitcode::Analyses analyses(builder);
  bitcode::resolve_function_pointers(module, prepared.linked);
  llvm::Function* entry = make_entry(*prepared.kernel, *request.kernel.library->find(name), slots, assumptions);
  initialise_threadgroup_variables(*entry);
  use_hardware_math(module);
  use_hardware_fences(module);
  inline_calls(module, analyses);
  auto sites = lower_logging(module, *entry);
  if (!sites) return Error{fmt::format("'{}' cannot be compiled: {}", name, sites.error())};
  result.log_sites = std::move(*sites);
  lower_matrices(module, architecture);
  lower_barriers(module);
  lower_group_functions(module, architecture);
  if (auto valid = verify(module, name); !valid) return Error{valid.error()};
  analyses.modules.clear();
  expand_small_copies(module);
  show_pointers(*entry, analyses);
  result.writes_argument = use_buffers(*entry, slots, assumptions);
  optimise(module, builder, analyses);
  combine_matrix_products(module, architecture);
  analyses.modules.clear();
  widen_accesses(*entry, analyses.functions);
  if (auto valid = verify(module, name); !valid) return Error{valid.error()};
  if (auto found = find_bodies(module, name); !found) return Error{found.error()};
  result.static_threadgroup_memory = size_of_threadgroup_variables(module);
  result.variables_are_dynamic = make_large_variables_dynamic(module);
  return LoweredKernel{std::move(prepared.module), std::move(result)};
}

}  // namespace metalloid::nvidia::lower
