#include "msl/instance.hpp"

#include "msl/file_system.hpp"
#include "msl/invocation.hpp"

namespace metalloid::msl {

std::unique_ptr<clang::CompilerInstance> make_instance(const CompileOptions& options, const std::filesystem::path& path,
                                                       const std::string* precompiled, DiagnosticCollector& collector) {
  FileSystem files = path.empty() ? files_below(options.include_directories) : all_files();
  std::unique_ptr<llvm::MemoryBuffer> header;
  if (precompiled) header = llvm::MemoryBuffer::getMemBuffer(*precompiled, precompiled_header_path, false);

  auto instance = std::make_unique<clang::CompilerInstance>(make_invocation(options));
  instance->setVirtualFileSystem(with_stdlib(std::move(files), std::move(header)));
  instance->createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  if (precompiled) {
    auto& preprocessor = instance->getPreprocessorOpts();
    preprocessor.ImplicitPCHInclude = precompiled_header_path;
    // It was made for these very options; the user's own macros come after it.
    preprocessor.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::All;
  }
  instance->createFileManager();
  instance->createSourceManager();
  [[maybe_unused]] const bool has_target = instance->createTarget();
  assert(has_target && "Clang always knows SPIR-V");
  return instance;
}

clang::FrontendInputFile make_input(clang::CompilerInstance& instance, const std::string& source,
                                    const CompileOptions& options, const std::filesystem::path& path) {
  // A name for the string that is also a path, so that Clang takes both kinds of source the same way.
  const std::string name = path.empty() ? options.source_name : path.string();
  instance.getPreprocessorOpts().addRemappedFile(name, llvm::MemoryBuffer::getMemBufferCopy(source, name).release());
  instance.getPreprocessorOpts().RetainRemappedFileBuffers = false;
  return {name, clang::InputKind(clang::Language::CXX)};
}

}  // namespace metalloid::msl
