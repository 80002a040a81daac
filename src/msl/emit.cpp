#include "msl/emit.hpp"

#include <clang/AST/GlobalDecl.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "bitcode/total_division.hpp"
#include "msl/air_symbols.hpp"
#include "msl/attributes.hpp"
#include "msl/diagnostics.hpp"
#include "msl/finish.hpp"
#include "msl/grid_parameters.hpp"
#include "msl/reflect.hpp"

namespace metalloid::msl {

namespace {

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
  std::vector<std::pair<llvm::GlobalVariable*, std::string>> named;
  for (clang::VarDecl* variable : reachable.variables) {
    const auto index = find_number(variable, "function_constant");
    const bool is_grid_value = grid_value_of(variable) != GridValue::none;
    if (!index && !is_grid_value) continue;
    llvm::Constant* address = generator->GetAddrOfGlobal(clang::GlobalDecl(variable), false);
    if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(address->stripPointerCasts()))
      named.emplace_back(global, is_grid_value ? grid_variable_prefix.str() + name_in_library(variable)
                                               : function_constant_prefix.str() + std::to_string(*index));
  }
  generator->HandleTranslationUnit(instance.getASTContext());
  std::unique_ptr<llvm::Module> module(generator->ReleaseModule());
  if (!module || !entry) return nullptr;
  for (const auto& [global, name] : named) global->setName(name);
  entry->setName(function.name);
  return module;
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

}  // namespace

Result<Code> emit(clang::CompilerInstance& instance, const Function& function, const Reachable& reachable,
                  const std::vector<FunctionConstant>& constants) {
  std::span<const Parameter> grid_variables;
  if (function.kind == FunctionKind::kernel)
    grid_variables = std::span(function.parameters).subspan(reachable.functions.front()->getNumParams());
  llvm::LLVMContext context;
  auto module = generate(instance, context, function, reachable);
  if (!module) return Error{"no code could be generated for '" + function.name + "'"};
  link_air_functions(*module);
  unconverge(*module);
  release_memory(*module);
  mask_shifts(*module);
  bitcode::make_division_total(*module);
  define_constants(*module);
  auto code = finish(*module, function.name, constants,
                     {.optimise = instance.getCodeGenOpts().OptimizationLevel > 0,
                      .may_call_undefined = !reachable.undefined.empty(),
                      .grid_variables = grid_variables});
  report_unavailable_calls(*module, instance.getDiagnostics());
  return code;
}

}  // namespace metalloid::msl
