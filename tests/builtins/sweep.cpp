#include "sweep.hpp"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <stdexcept>

#include "../support/jit.hpp"
#include "bitcode/analyses.hpp"
#include "builtins/builtins.hpp"

namespace metalloid::builtins {

namespace {

// void (const T* x, const T* y, T* out, size_t count); y is not read for a function of one operand.
using Sweep = void (*)(const void*, const void*, void*, size_t);

template <class T>
T checked(llvm::Expected<T> value) {
  if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}
void check(llvm::Error error) {
  if (error) throw std::runtime_error(llvm::toString(std::move(error)));
}

// The module, of which bodies are read when they are asked for.
std::unique_ptr<llvm::Module> parse(llvm::LLVMContext& context) {
  const auto bytes = bitcode();
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return checked(llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(text, "builtins"), context));
}

// Leaves of the module the one function, which needs no other, with the calling convention of this machine.
void isolate(llvm::Module& module, llvm::Function& kept) {
  check(kept.materialize());
  for (llvm::Function& function : module) {
    if (&function == &kept || function.isDeclaration()) continue;
    function.deleteBody();
    function.setComdat(nullptr);
  }
  check(module.materializeAll());
  kept.setCallingConv(llvm::CallingConv::C);
  kept.setLinkage(llvm::GlobalValue::InternalLinkage);
}

void add_loop(llvm::Module& module, llvm::Function& body) {
  llvm::IRBuilder<> at(module.getContext());
  llvm::Type* const pointer = at.getPtrTy();
  llvm::Type* const element = body.getReturnType();
  auto* const sweep = llvm::Function::Create(
      llvm::FunctionType::get(at.getVoidTy(), {pointer, pointer, pointer, at.getInt64Ty()}, false),
      llvm::GlobalValue::ExternalLinkage, "sweep." + body.getName(), module);
  for (unsigned i = 0; i < 3; ++i) sweep->getArg(i)->addAttr(llvm::Attribute::NoAlias);
  auto* const entry = llvm::BasicBlock::Create(module.getContext(), "entry", sweep);
  auto* const loop = llvm::BasicBlock::Create(module.getContext(), "loop", sweep);
  auto* const done = llvm::BasicBlock::Create(module.getContext(), "done", sweep);
  at.SetInsertPoint(entry);
  at.CreateCondBr(at.CreateICmpEQ(sweep->getArg(3), at.getInt64(0)), done, loop);
  at.SetInsertPoint(loop);
  llvm::PHINode* const i = at.CreatePHI(at.getInt64Ty(), 2);
  llvm::SmallVector<llvm::Value*> operands;
  for (unsigned operand = 0; operand < body.arg_size(); ++operand)
    operands.push_back(at.CreateLoad(element, at.CreateInBoundsGEP(element, sweep->getArg(operand), i)));
  at.CreateStore(at.CreateCall(&body, operands), at.CreateInBoundsGEP(element, sweep->getArg(2), i));
  llvm::Value* const next = at.CreateAdd(i, at.getInt64(1));
  i->addIncoming(at.getInt64(0), entry);
  i->addIncoming(next, loop);
  at.CreateCondBr(at.CreateICmpEQ(next, sweep->getArg(3)), done, loop);
  at.SetInsertPoint(done);
  at.CreateRetVoid();
  body.addFnAttr(llvm::Attribute::AlwaysInline);
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", machine.getTargetCPU());
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    }
  llvm::PassBuilder builder(&machine);
  bitcode::Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses.modules);
}

// One compiler for all builtins, which compiles one when it is first asked for.
class Compiler {
 public:
  Compiler() : machine_(checked(checked(llvm::orc::JITTargetMachineBuilder::detectHost()).createTargetMachine())) {}

  Sweep sweep(std::string_view symbol, unsigned operands, llvm::Type::TypeID element) {
    auto& compiled = sweeps_[std::string(symbol)];
    if (!compiled) compiled = compile(symbol, operands, element);
    return compiled;
  }

 private:
  Sweep compile(std::string_view symbol, unsigned operands, llvm::Type::TypeID element) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = parse(*context);
    llvm::Function* const body = module->getFunction(symbol);
    if (!body || body->isDeclaration() || body->arg_size() != operands || body->getReturnType()->getTypeID() != element)
      throw std::runtime_error("there is no builtin " + std::string(symbol) + " of this type");
    isolate(*module, *body);
    module->setTargetTriple(machine_->getTargetTriple());
    module->setDataLayout(machine_->createDataLayout());
    add_loop(*module, *body);
    std::string broken;
    llvm::raw_string_ostream explanation(broken);
    if (llvm::verifyModule(*module, &explanation)) throw std::runtime_error(broken);
    optimise(*module, *machine_);
    jit_.add(std::move(module), std::move(context));
    return jit_.find<std::remove_pointer_t<Sweep>>("sweep." + std::string(symbol));
  }

  Jit jit_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::map<std::string, Sweep> sweeps_;
};

Compiler& compiler() {
  static Compiler one;
  return one;
}

}  // namespace

void sweep(std::string_view symbol, std::span<const float> x, std::span<float> out) {
  compiler().sweep(symbol, 1, llvm::Type::FloatTyID)(x.data(), nullptr, out.data(), out.size());
}
void sweep(std::string_view symbol, std::span<const float> x, std::span<const float> y, std::span<float> out) {
  compiler().sweep(symbol, 2, llvm::Type::FloatTyID)(x.data(), y.data(), out.data(), out.size());
}
void sweep(std::string_view symbol, std::span<const uint16_t> x, std::span<uint16_t> out) {
  compiler().sweep(symbol, 1, llvm::Type::HalfTyID)(x.data(), nullptr, out.data(), out.size());
}
void sweep(std::string_view symbol, std::span<const uint16_t> x, std::span<const uint16_t> y, std::span<uint16_t> out) {
  compiler().sweep(symbol, 2, llvm::Type::HalfTyID)(x.data(), y.data(), out.data(), out.size());
}

Anatomy anatomy(std::string_view symbol) {
  static llvm::LLVMContext context;
  static const auto module = parse(context);
  llvm::Function* const function = module->getFunction(symbol);
  Anatomy found;
  if (!function) return found;
  check(function->materialize());
  found.defined = !function->isDeclaration();
  found.touches_memory = !function->doesNotAccessMemory();
  found.blocks = function->size();
  for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call) continue;
    const llvm::Function* const callee = call->getCalledFunction();
    if (!callee || !callee->isIntrinsic()) found.calls.push_back(callee ? callee->getName().str() : "a pointer");
  }
  return found;
}

}  // namespace metalloid::builtins
