#include "msl/emit.hpp"

#include <clang/AST/GlobalDecl.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
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

#include "bitcode/total_division.hpp"
#include "msl/air_symbols.hpp"
#include "msl/attributes.hpp"
#include "msl/diagnostics.hpp"
#include "msl/long_kernels.hpp"

namespace metalloid::msl {

namespace {

constexpr unsigned generic_address_space = 4;
constexpr unsigned threadgroup_address_space = 3;
constexpr llvm::StringLiteral constant_prefix = "metal.function_constant.";

std::unique_ptr<llvm::Module> generate(clang::CompilerInstance& instance, llvm::LLVMContext& context,
                                       const Function& function, const Reachable& reachable) {
  auto generator = clang::CreateLLVMCodeGen(instance, function.name, context);
  generator->Initialize(instance.getASTContext());
  for (clang::VarDecl* variable : reachable.variables) generator->HandleTopLevelDecl(clang::DeclGroupRef(variable));
  for (clang::FunctionDecl* called : reachable.functions) {
    generator->HandleTopLevelDecl(clang::DeclGroupRef(called));
    if (called->hasAttr<clang::UsedAttr>()) generator->GetAddrOfGlobal(clang::GlobalDecl(called), false);
  }

  auto* entry = llvm::dyn_cast<llvm::Function>(
      generator->GetAddrOfGlobal(clang::GlobalDecl(reachable.functions.front()), /*isForDefinition=*/false));
  std::vector<std::pair<llvm::GlobalVariable*, uint64_t>> constants;
  for (clang::VarDecl* variable : reachable.variables) {
    const auto index = find_number(variable, "function_constant");
    if (!index) continue;
    llvm::Constant* address = generator->GetAddrOfGlobal(clang::GlobalDecl(variable), false);
    if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(address->stripPointerCasts()))
      constants.emplace_back(global, *index);
  }
  generator->HandleTranslationUnit(instance.getASTContext());
  std::unique_ptr<llvm::Module> module(generator->ReleaseModule());
  if (!module || !entry) return nullptr;
  for (auto [global, index] : constants) global->setName(constant_prefix + llvm::Twine(index));
  entry->setName(function.name);
  return module;
}

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

// In this mode Clang calls every function convergent. Of the builtins, only those are that lanes take part in together.
void unconverge(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (!name.starts_with("metal.") || name.starts_with("metal.simd") || name.starts_with("metal.quad") ||
        name.starts_with("metal.threadgroup_barrier"))
      continue;
    function.setNotConvergent();
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) call->setNotConvergent();
  }
}

// A SIMD-group barrier without memory flags orders no accesses.
void release_memory(llvm::Module& module) {
  llvm::Function* barrier = module.getFunction("metal.simdgroup_barrier");
  if (!barrier) return;
  for (llvm::User* user : barrier->users()) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    const auto* flags = call ? llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0)) : nullptr;
    if (flags && flags->isZero()) call->setOnlyAccessesInaccessibleMemory();
  }
}

// Metal takes a shift amount modulo the width of what is shifted; LLVM calls a larger one poison.
void mask_shifts(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!instruction.isShift()) continue;
      llvm::IRBuilder<> builder(&instruction);
      llvm::Value* amount = instruction.getOperand(1);
      const unsigned width = amount->getType()->getScalarSizeInBits();
      instruction.setOperand(1, builder.CreateAnd(amount, llvm::ConstantInt::get(amount->getType(), width - 1)));
    }
}

// What clang worked out by itself and found to be undefined, as `1 / 0`, is some value, as it is when kernels run. It
// also starts vectors that it fills element by element with what is undefined.
void define_constants(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (!llvm::isa<llvm::InsertElementInst, llvm::InsertValueInst, llvm::ShuffleVectorInst>(instruction))
        for (llvm::Use& operand : instruction.operands())
          if (llvm::isa<llvm::PoisonValue>(operand)) operand.set(llvm::Constant::getNullValue(operand->getType()));
}

// What a header declares as out of reach for compute functions, with its reason; the call says where it stands.
void report_unavailable_calls(const llvm::Module& module, clang::DiagnosticsEngine& diagnostics) {
  for (const llvm::Function& function : module) {
    if (!function.hasFnAttribute("dontcall-error")) continue;
    for (const llvm::User* user : function.users()) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      clang::SourceLocation at;
      if (const llvm::MDNode* place = call ? call->getMetadata("srcloc") : nullptr)
        at = clang::SourceLocation::getFromRawEncoding(
            llvm::mdconst::extract<llvm::ConstantInt>(place->getOperand(0))->getZExtValue());
      report_error(diagnostics, at, function.getFnAttribute("dontcall-error").getValueAsString().str());
    }
  }
}

void clean_up(llvm::Module& module, bool optimise) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  if (optimise) {
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
  passes.run(module, modules);
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
    const auto* global = module.getNamedGlobal((constant_prefix + llvm::Twine(constant.index)).str());
    if (!global) continue;
    used.push_back(constant);
    used.back().required = !is_asked_about(global);
  }
  return used;
}

}  // namespace

Result<Code> emit(clang::CompilerInstance& instance, const Function& function, const Reachable& reachable,
                  const std::vector<FunctionConstant>& constants) {
  llvm::LLVMContext context;
  auto module = generate(instance, context, function, reachable);
  if (!module) return Error{"no code could be generated for '" + function.name + "'"};
  link_air_functions(*module);
  isolate(*module, function.name);
  unconverge(*module);
  release_memory(*module);
  mask_shifts(*module);
  bitcode::make_division_total(*module);
  define_constants(*module);
  const bool optimise = instance.getCodeGenOpts().OptimizationLevel > 0;
  if (optimise) inline_if_long(*module->getFunction(function.name));
  clean_up(*module, optimise);

  report_unavailable_calls(*module, instance.getDiagnostics());
  std::string broken;
  llvm::raw_string_ostream explanation(broken);
  if (llvm::verifyModule(*module, &explanation))
    return Error{"internal error: the module of '" + function.name + "' is not valid: " + broken};
  for (const llvm::Function& called : *module)
    if (called.isDeclaration() && !called.isIntrinsic() && !called.getName().starts_with("metal."))
      return Error{"'" + function.name + "' calls '" + called.getName().str() + "', which has no definition"};

  Code code;
  code.entry = function.name;
  code.static_threadgroup_memory = static_threadgroup_memory(*module);
  code.function_constants = used_constants(*module, constants);
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  code.bitcode.assign(bitcode.begin(), bitcode.end());
  return code;
}

}  // namespace metalloid::msl
