#include "msl/precompiled_stdlib.hpp"

#include <map>
#include <mutex>

#include "cache/disk_cache.hpp"
#include "msl/embedded_headers.hpp"
#include "msl/instance.hpp"
#include "msl/invocation.hpp"

namespace metalloid::msl {

namespace {

class PrecompileAction final : public clang::ASTFrontendAction {
 public:
  explicit PrecompileAction(std::shared_ptr<clang::PCHBuffer> buffer) : buffer_(std::move(buffer)) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance, llvm::StringRef) override {
    return std::make_unique<clang::PCHGenerator>(instance.getPreprocessor(), instance.getModuleCache(),
                                                 /*OutputFile=*/"", /*isysroot=*/"", buffer_, instance.getCodeGenOpts(),
                                                 llvm::ArrayRef<std::shared_ptr<clang::ModuleFileExtension>>(),
                                                 /*AllowASTWithErrors=*/false, /*IncludeTimestamps=*/false);
  }
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }

 private:
  std::shared_ptr<clang::PCHBuffer> buffer_;
};

Result<std::shared_ptr<const std::string>> build(const CompileOptions& options) {
  CompileOptions library_options = options;
  library_options.include_directories.clear();
  library_options.no_warnings = true;
  library_options.warnings_as_errors = false;
  DiagnosticCollector collector;
  auto instance = make_instance(library_options, {}, nullptr, collector);

  auto buffer = std::make_shared<clang::PCHBuffer>();
  PrecompileAction action(buffer);
  const auto source = llvm::MemoryBuffer::getMemBuffer("#include <metal_stdlib>\n", "metal_stdlib.pch.hpp");
  const clang::FrontendInputFile input(source->getMemBufferRef(), clang::InputKind(clang::Language::CXX).getHeader());
  if (action.BeginSourceFile(*instance, input)) {
    llvm::consumeError(action.Execute());
    action.EndSourceFile();
  }
  if (!buffer->IsComplete) return Error{format(collector.take())};
  return std::make_shared<const std::string>(buffer->Data.begin(), buffer->Data.end());
}

}  // namespace

Result<std::shared_ptr<const std::string>> precompiled_stdlib(const CompileOptions& options) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const std::string>> built;

  const std::string key = stdlib_key(options);
  std::lock_guard lock(mutex);
  auto& entry = built[key];
  if (entry) return entry;
  const cache::CacheKey cache_key = cache::CacheKey(compiler_fingerprint()).add("stdlib").add(key);
  if (options.cache) {
    if (auto stored = cache::DiskCache::shared().load(cache_key))
      return entry = std::make_shared<const std::string>(std::move(*stored));
  }
  auto result = build(options);
  if (!result) return result;
  if (options.cache) cache::DiskCache::shared().store(cache_key, **result);
  return entry = *result;
}

}  // namespace metalloid::msl
