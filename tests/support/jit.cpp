#include "jit.hpp"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/TargetSelect.h>

#include <stdexcept>

#include "cpu/runtime_symbols.hpp"

namespace metalloid {

namespace {

template <class T>
T checked(llvm::Expected<T> value) {
  if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

}  // namespace

Jit::Jit() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  jit_ = checked(llvm::orc::LLJITBuilder().create());
  cpu::RuntimeSymbols conversions;
  cpu::add_number_conversions(conversions);
  llvm::orc::SymbolMap symbols;
  for (const auto& [name, address] : conversions.addresses())
    symbols[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  llvm::cantFail(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))));
}

Jit::Jit(Jit&&) noexcept = default;

Jit::~Jit() = default;

void Jit::set_target(llvm::Module& module) const {
  module.setDataLayout(jit_->getDataLayout());
  module.setTargetTriple(jit_->getTargetTriple());
}

void Jit::add(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context) {
  if (auto error = jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    throw std::runtime_error(llvm::toString(std::move(error)));
}

void* Jit::address_of(llvm::StringRef name) {
  return checked(jit_->lookup(name)).toPtr<void*>();
}

}  // namespace metalloid
