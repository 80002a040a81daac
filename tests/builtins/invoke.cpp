#include "invoke.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <map>
#include <stdexcept>
#include <string>

#include "../support/jit.hpp"
#include "builtins/builtins.hpp"

namespace metalloid::builtins {
namespace {

template <class T>
T checked(llvm::Expected<T> value) {
  if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

std::unique_ptr<llvm::Module> parse(llvm::LLVMContext& context) {
  const auto bytes = bitcode();
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return checked(llvm::parseBitcodeFile(llvm::MemoryBufferRef(text, "builtins"), context));
}

// All functions become this machine's; only what `kept` needs stays.
void retarget(llvm::Module& module, llvm::Function& kept, const Jit& jit) {
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    if (!function.isDeclaration() && &function != &kept) function.setLinkage(llvm::GlobalValue::InternalLinkage);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->setCallingConv(llvm::CallingConv::C);
  }
  llvm::ModuleAnalysisManager none;
  llvm::GlobalDCEPass().run(module, none);
  kept.setLinkage(llvm::GlobalValue::InternalLinkage);
  jit.set_target(module);
}

// void invoke.<symbol>(const Slot* operands, Slot* result)
void add_invocation(llvm::Module& module, llvm::Function& body) {
  llvm::IRBuilder<> at(module.getContext());
  auto* const type = llvm::FunctionType::get(at.getVoidTy(), {at.getPtrTy(), at.getPtrTy()}, false);
  auto* const invoke =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "invoke." + body.getName(), module);
  at.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", invoke));
  llvm::SmallVector<llvm::Value*> operands;
  for (llvm::Argument& argument : body.args()) {
    llvm::Value* const slot =
        at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), invoke->getArg(0), slot_bytes * argument.getArgNo());
    operands.push_back(at.CreateAlignedLoad(argument.getType(), slot, llvm::Align(1)));
  }
  llvm::Value* const result = at.CreateCall(&body, operands);
  if (!body.getReturnType()->isVoidTy()) at.CreateAlignedStore(result, invoke->getArg(1), llvm::Align(1));
  at.CreateRetVoid();
}

class Compiler {
 public:
  Invocation invocation(const std::string& symbol, size_t operands) {
    Invocation& compiled = compiled_[symbol];
    if (compiled == nullptr) compiled = compile(symbol, operands);
    return compiled;
  }

 private:
  Invocation compile(const std::string& symbol, size_t operands) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = parse(*context);
    llvm::Function* const body = module->getFunction(symbol);
    if (body == nullptr || body->isDeclaration() || body->arg_size() != operands)
      throw std::runtime_error("there is no builtin " + symbol + " of " + std::to_string(operands) + " operands");
    retarget(*module, *body, jit_);
    add_invocation(*module, *body);
    jit_.add(std::move(module), std::move(context));
    return jit_.find<std::remove_pointer_t<Invocation>>("invoke." + symbol);
  }

  Jit jit_;
  std::map<std::string, Invocation> compiled_;
};

}  // namespace

Invocation invocation(std::string_view symbol, size_t operands) {
  static Compiler compiler;
  return compiler.invocation(std::string(symbol), operands);
}

std::vector<std::string> defined_functions() {
  llvm::LLVMContext context;
  const auto module = parse(context);
  std::vector<std::string> names;
  for (const llvm::Function& function : *module)
    if (!function.isDeclaration() && function.hasExternalLinkage()) names.push_back(function.getName().str());
  return names;
}

}  // namespace metalloid::builtins
