#include "nvidia/compile.hpp"

#include <fmt/format.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "bitcode/analyses.hpp"
#include "bitcode/code_key.hpp"
#include "bitcode/function_pointers.hpp"
#include "bitcode/prepare.hpp"
#include "cache/disk_cache.hpp"
#include "nvidia/lower/passes.hpp"
#include "nvidia/lower/retarget.hpp"
#include "nvidia/lower/threadgroup_memory.hpp"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace metalloid::nvidia {

namespace {

// The oldest version of PTX that has all we use of an architecture.
const char* ptx_feature(const Architecture& architecture) {
  if (architecture.capability >= 120) return "+ptx87";
  return architecture.capability >= 100 ? "+ptx86" : "+ptx78";
}

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

void inline_everything(llvm::Module& module, bitcode::Analyses& analyses) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.getCallingConv() == llvm::CallingConv::PTX_Kernel) continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.run(module, analyses.modules);
}

void optimise(llvm::Module& module, llvm::PassBuilder& builder, bitcode::Analyses& analyses) {
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, analyses.modules);
}

Result<std::string> generate_ptx(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Error{"LLVM cannot generate PTX"};
  passes.run(module);
  return std::string(text);
}

// LLVM prints what it has to say, unless it is told otherwise; its warnings are about its own business.
class DiagnosticHandler final : public llvm::DiagnosticHandler {
 public:
  explicit DiagnosticHandler(std::string& problem) : problem_(problem) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(problem_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

 private:
  std::string& problem_;
};

Result<CompiledKernel> compile_now(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                                   const Architecture& architecture, const Assumptions& assumptions) {
  const std::string& name = request.kernel.name;
  auto machine = make_machine(architecture);
  if (!machine) return Error{machine.error()};
  llvm::LLVMContext context;
  std::string problem;
  context.setDiagnosticHandler(std::make_unique<DiagnosticHandler>(problem));
  auto loaded = bitcode::prepare(context, request);
  if (!loaded) return Error{loaded.error()};
  bitcode::Prepared prepared = lower::retarget(std::move(*loaded), **machine);
  llvm::Module& module = *prepared.module;
  rename(prepared);

  CompiledKernel result;
  for (const device::Slot& slot : slots)
    result.uses_argument.push_back(!prepared.kernel->getArg(slot.parameter)->use_empty());

  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = false;  // lanes are the hardware's
  llvm::PassBuilder builder(machine->get(), tuning);
  bitcode::Analyses analyses(builder);
  bitcode::resolve_function_pointers(module, prepared.linked);
  llvm::Function* entry = lower::make_entry(*prepared.kernel, *request.kernel.library->find(name), slots, assumptions);
  lower::initialise_threadgroup_variables(*entry);
  lower::use_hardware_math(module);
  lower::use_hardware_fences(module);
  inline_everything(module, analyses);
  auto sites = lower::lower_logging(module, *entry);
  if (!sites) return Error{fmt::format("'{}' cannot be compiled: {}", name, sites.error())};
  result.log_sites = std::move(*sites);
  lower::lower_matrices(module, architecture);
  lower::lower_group_functions(module, architecture);
  lower::lower_barriers(module);
  if (auto valid = verify(module, name); !valid) return Error{valid.error()};
  analyses.modules.clear();
  optimise(module, builder, analyses);
  lower::combine_matrix_products(module, architecture);
  if (auto valid = verify(module, name); !valid) return Error{valid.error()};
  if (auto found = find_bodies(module, name); !found) return Error{found.error()};
  result.static_threadgroup_memory = lower::size_of_threadgroup_variables(module);
  auto ptx = generate_ptx(module, **machine);
  if (!ptx) return Error{ptx.error()};
  if (!problem.empty()) return Error{fmt::format("'{}' cannot be compiled: {}", name, problem)};
  result.ptx = std::move(*ptx);
  return result;
}

Result<cache::CacheKey> key_of(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                               const Architecture& architecture, const Assumptions& assumptions) {
  auto key = bitcode::key_of(compiler_fingerprint(), request, slots);
  if (key) key->add("nvidia").add(architecture.name()).add(assumptions.is_even ? "even" : "any");
  return key;
}

std::string to_text(const CompiledKernel& kernel) {
  nlohmann::json sites = nlohmann::json::array();
  for (const LogSite& site : kernel.log_sites)
    sites.push_back({site.level, site.subsystem, site.category, site.format});
  return nlohmann::json{{"threadgroup_memory", kernel.static_threadgroup_memory},
                        {"uses", kernel.uses_argument},
                        {"logs", sites},
                        {"ptx", kernel.ptx}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Nothing if it is something else.
std::optional<CompiledKernel> from_text(std::string_view text, size_t slots) try {
  const auto fields = nlohmann::json::parse(text);
  CompiledKernel kernel;
  fields.at("threadgroup_memory").get_to(kernel.static_threadgroup_memory);
  fields.at("uses").get_to(kernel.uses_argument);
  for (const auto& site : fields.at("logs"))
    kernel.log_sites.push_back({site.at(0), site.at(1), site.at(2), site.at(3)});
  fields.at("ptx").get_to(kernel.ptx);
  if (kernel.uses_argument.size() != slots) return std::nullopt;
  return kernel;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace

Result<CompiledKernel> compile(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                               const Architecture& architecture, const Assumptions& assumptions) {
  auto key = key_of(request, slots, architecture, assumptions);
  if (!key) return Error{key.error()};
  const std::string name = key->hex();
  for (const auto& archive : request.archives)
    if (const auto text = archive->load(name))
      if (auto kernel = from_text(*text, slots.size())) return std::move(*kernel);
  if (request.only_from_archives)
    return Error{
        fmt::format("'{}' is in none of the binary archives, and compiling it was ruled out", request.kernel.name)};

  cache::DiskCache& disk = cache::DiskCache::shared();
  std::optional<CompiledKernel> kernel;
  if (const auto kept = disk.load(*key)) kernel = from_text(*kept, slots.size());
  if (!kernel) {
    auto compiled = compile_now(request, slots, architecture, assumptions);
    if (!compiled) return compiled;
    kernel = std::move(*compiled);
    disk.store(*key, to_text(*kernel));
  }
  for (const auto& archive : request.archives) archive->store(name, to_text(*kernel));
  return std::move(*kernel);
}

uint64_t visible_function_handle(size_t place) {
  return bitcode::handle_of_visible_function(place);
}

}  // namespace metalloid::nvidia
