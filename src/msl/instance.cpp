#include "instance.hpp"

#include "file_system.hpp"
#include "invocation.hpp"

namespace metalloid::msl {

std::unique_ptr<clang::CompilerInstance> make_instance(const CompileOptions& options, const std::filesystem::path& path,
                                                       const std::string* precompiled, DiagnosticCollector& collector) {
  std::vector<std::filesystem::path> folders = options.include_directories;
  if (!path.empty()) folders.push_back(path.has_parent_path() ? path.parent_path() : ".");
  std::unique_ptr<llvm::MemoryBuffer> header;
  if (precompiled) header = llvm::MemoryBuffer::getMemBuffer(*precompiled, precompiled_header_path, false);

  auto instance = std::make_unique<clang::CompilerInstance>(make_invocation(options));
  instance->setVirtualFileSystem(make_file_system(folders, std::move(header)));
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

std::string source_name(const CompileOptions& options, const std::filesystem::path& path) {
  return path.empty() ? options.source_name : path.string();
}

}  // namespace metalloid::msl
