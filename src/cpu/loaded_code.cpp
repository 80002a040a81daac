#include "cpu/loaded_code.hpp"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

#include <atomic>

#include "cpu/host_processor.hpp"
#include "cpu/lower/thread_values.hpp"
#include "cpu/runtime_symbols.hpp"
#include "cpu/validation/site_table.hpp"

namespace metalloid::cpu {

namespace {

Error not_loaded(llvm::Error error) {
  return Error{"the pipeline's code cannot be loaded: " + llvm::toString(std::move(error))};
}

}  // namespace

Loader::Loader() = default;

Loader::~Loader() = default;

Result<std::shared_ptr<Loader>> Loader::make() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder()
                 .setLinkProcessSymbolsByDefault(false)  // kernels call nothing but the runtime
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit) return Error{"the code loader could not be set up: " + llvm::toString(jit.takeError())};
  auto loader = std::make_shared<Loader>();
  loader->jit_ = std::move(*jit);
  loader->jit_->getExecutionSession().setErrorReporter(
      [](llvm::Error error) { llvm::consumeError(std::move(error)); });  // load() returns them
  loader->runtime_ = &loader->jit_->getExecutionSession().createBareJITDylib("runtime");
  llvm::orc::SymbolMap symbols;
  for (const auto& [name, address] : RuntimeSymbols::all().addresses())
    symbols[loader->jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                                    llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (auto error = loader->runtime_->define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return Error{"the code loader could not be set up: " + llvm::toString(std::move(error))};
  return loader;
}

LoadedCode::LoadedCode(std::shared_ptr<Loader> loader, llvm::orc::JITDylib& library)
    : loader_(std::move(loader)), library_(library) {}

LoadedCode::~LoadedCode() {
  llvm::consumeError(loader_->jit_->getExecutionSession().removeJITDylib(library_));
}

Result<std::unique_ptr<LoadedCode>> LoadedCode::load(std::shared_ptr<Loader> loader, const std::string& object,
                                                     size_t visible_functions, bool validated) {
  static std::atomic<uint64_t> count = 0;
  llvm::orc::LLJIT& jit = *loader->jit_;
  llvm::orc::JITDylib& runtime = *loader->runtime_;
  auto& library = jit.getExecutionSession().createBareJITDylib(fmt::format("pipeline {}", ++count));
  library.addToLinkOrder(runtime);
  std::unique_ptr<LoadedCode> code(new LoadedCode(std::move(loader), library));
  if (auto error = jit.addObjectFile(library, llvm::MemoryBuffer::getMemBufferCopy(object, "pipeline")))
    return not_loaded(std::move(error));
  auto entry = jit.lookup(library, lower::entry_name);
  if (!entry) return not_loaded(entry.takeError());
  auto layout = jit.lookup(library, layout_symbol);
  if (!layout) return not_loaded(layout.takeError());
  code->entry = entry->toPtr<Entry>();
  code->layout = layout->toPtr<const ObjectLayout*>();
  if (validated) {
    auto sites = jit.lookup(library, validation::site_table_symbol);
    if (!sites) return not_loaded(sites.takeError());
    code->sites = sites->toPtr<const validation::SiteTable*>();
  }
  for (size_t i = 0; i < visible_functions; ++i) {
    auto function = jit.lookup(library, visible_function_symbol(i));
    if (!function) return not_loaded(function.takeError());
    code->visible_functions.push_back(function->getValue());
  }
  return code;
}

}  // namespace metalloid::cpu
