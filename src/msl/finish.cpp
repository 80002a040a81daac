#include "msl/finish.hpp"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/StripDeadPrototypes.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "bitcode/analyses.hpp"
#include "msl/grid_parameters.hpp"
#include "msl/long_kernels.hpp"

namespace metalloid::msl {

namespace {

constexpr unsigned generic_address_space = 4;
constexpr unsigned threadgroup_address_space = 3;

// Only the entry is seen from outside; what Clang left for linkers and runtimes of other languages goes.
void isolate(llvm::Module& module, const std::string& entry) {
  for (const char* name : {"llvm.global.annotations", "llvm.used", "llvm.compiler.used"})
    if (auto* global = module.getNamedGlobal(name)) global->eraseFromParent();
  for (llvm::GlobalObject& object : module.global_objects()) {
    object.setComdat(nullptr);
    if (object.isDeclaration()) continue;
    const bool is_entry = object.getName() == entry;
    if (!object.hasAppendingLinkage())
      object.setLinkage(is_entry ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
    object.setVisibility(llvm::GlobalValue::DefaultVisibility);
    object.setDSOLocal(!is_entry);
  }
  for (llvm::Function& function : module) {
    function.removeFnAttr("sycl-module-id");
    if (function.isDeclaration() || function.getName() == entry) continue;
    // `this` is restrict only to tell overloads apart (object_space.cpp).
    for (llvm::Argument& argument : function.args())
      if (argument.getName() == "this") argument.removeAttr(llvm::Attribute::NoAlias);
    if (function.hasFnAttribute(llvm::Attribute::NoInline) || function.hasFnAttribute(llvm::Attribute::OptimizeNone))
      continue;
    function.addFnAttr(llvm::Attribute::AlwaysInline);  // recursive ones stay functions all the same
  }
}

struct AddGridParameters : llvm::PassInfoMixin<AddGridParameters> {
  const std::string& entry;
  std::span<const Parameter> variables;
  Status& status;

  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    status = add_grid_parameters(*module.getFunction(entry), variables);
    return llvm::PreservedAnalyses::none();
  }
};

Status clean_up(llvm::Module& module, const std::string& entry, const FinishOptions& options) {
  llvm::PassBuilder builder;
  bitcode::Analyses analyses(builder);

  llvm::ModulePassManager passes;
  Status status = success();
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(AddGridParameters{.entry = entry, .variables = options.grid_variables, .status = status});
  if (options.optimise) {
    llvm::FunctionPassManager each;
    each.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    each.addPass(llvm::EarlyCSEPass());
    // Reads that the source makes under a condition stay under it: shader validation sees who reads what.
    each.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().speculateBlocks(false)));
    each.addPass(llvm::InferAddressSpacesPass(generic_address_space));
    each.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    each.addPass(llvm::EarlyCSEPass());
    each.addPass(llvm::ADCEPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
    passes.addPass(llvm::GlobalDCEPass());
  }
  passes.addPass(llvm::StripDeadPrototypesPass());
  passes.run(module, analyses.modules);
  return status;
}

uint64_t static_threadgroup_memory(const llvm::Module& module) {
  uint64_t bytes = 0;
  for (const llvm::GlobalVariable& global : module.globals()) {
    if (global.getAddressSpace() != threadgroup_address_space) continue;
    const llvm::DataLayout& layout = module.getDataLayout();
    bytes = llvm::alignTo(bytes, layout.getPreferredAlign(&global));
    bytes += layout.getTypeAllocSize(global.getValueType());
  }
  return llvm::alignTo(bytes, 16);
}

// Whether some code asks if the constant has a value: then it need not have one.
bool is_asked_about(const llvm::Value* value) {
  return llvm::any_of(value->users(), [](const llvm::User* user) {
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(user))
      return call->getCalledFunction() && call->getCalledFunction()->getName() == "metal.is_function_constant_defined";
    return (llvm::isa<llvm::ConstantExpr>(user) || llvm::isa<llvm::AddrSpaceCastInst>(user)) && is_asked_about(user);
  });
}

std::vector<FunctionConstant> used_constants(const llvm::Module& module, const std::vector<FunctionConstant>& all) {
  std::vector<FunctionConstant> used;
  for (const FunctionConstant& constant : all) {
    const auto* global = module.getNamedGlobal((function_constant_prefix + llvm::Twine(constant.index)).str());
    if (!global) continue;
    used.push_back(constant);
    used.back().required = !is_asked_about(global);
  }
  return used;
}

}  // namespace

Result<Code> finish(llvm::Module& module, const std::string& entry, const std::vector<FunctionConstant>& constants,
                    FinishOptions options) {
  isolate(module, entry);
  if (options.optimise) inline_if_long(*module.getFunction(entry));
  if (auto status = clean_up(module, entry, options); !status) return Error{status.error()};

  std::string broken;
  llvm::raw_string_ostream explanation(broken);
  if (llvm::verifyModule(module, &explanation))
    return Error{"internal error: the module of '" + entry + "' is not valid: " + broken};
  Code code;
  code.entry = entry;
  for (const llvm::Function& called : module) {
    if (!called.isDeclaration() || called.isIntrinsic() || called.getName().starts_with("metal.")) continue;
    if (!options.may_call_undefined)
      return Error{"'" + entry + "' calls '" + called.getName().str() + "', which has no definition"};
    code.undefined.push_back(called.getName().str());
  }
  code.static_threadgroup_memory = static_threadgroup_memory(module);
  code.function_constants = used_constants(module, constants);
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  code.bitcode.assign(bitcode.begin(), bitcode.end());
  return code;
}

}  // namespace metalloid::msl
