// The public call: source and options in, a library out, by way of the disk cache where it can.
#include <metalloid/compiler.hpp>

#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

#include "msl/big_stack.hpp"
#include "msl/library_cache.hpp"
#include "msl/preprocess.hpp"
#include "msl/translation_unit.hpp"

namespace metalloid {

namespace {

using msl::TranslationUnit;

// Code from a source: out of the cache, else from the parsed source, which is parsed now if the library itself came out
// of the cache.
class SourceCode final : public CodeProvider {
 public:
  SourceCode(std::string source, std::filesystem::path path, CompileOptions options)
      : source_(std::move(source)), path_(std::move(path)), options_(std::move(options)), cache_(source_, path_, options_) {}

  CompileResult compile(const std::shared_ptr<SourceCode>& self) {
    if (auto entry = cache_.load()) {
      index_ = entry->index;
      const auto read = [index = index_.get()](size_t i) { return *index->find(index->function_names()[i]); };
      auto library = std::make_shared<Library>(index_->function_names(), read, index_->function_constants(), self);
      return {std::move(library), std::move(entry->diagnostics), std::move(entry->included_files)};
    }
    CompileResult result;
    const bool parsed = parse();
    result.diagnostics = unit_->take_diagnostics();
    result.included_files = unit_->included_files();
    if (!parsed) {
      if (!has_errors(result.diagnostics)) result.diagnostics.push_back({.message = "the source could not be compiled"});
      return result;
    }
    cache_.store(unit_->functions(), unit_->function_constants(), result.diagnostics, result.included_files);
    result.library = std::make_shared<Library>(unit_->functions(), unit_->function_constants(), self);
    return result;
  }

  Result<std::shared_ptr<const Code>> code(size_t index) override {
    std::lock_guard lock(mutex_);
    const Function& function = index_ ? *index_->find(index_->function_names()[index]) : unit_->functions()[index];
    if (auto cached = cache_.load_code(function)) return cached;
    if (!unit_ && !parse()) return Error{format(unit_->take_diagnostics())};
    auto code = msl::on_big_stack([&] { return unit_->emit(index); });
    if (code) cache_.store_code(function, *code);
    return code;
  }

 private:
  bool parse() {
    unit_ = std::make_unique<TranslationUnit>(source_, path_, options_);
    return msl::on_big_stack([&] { return unit_->parse(); });
  }

  std::string source_;
  std::filesystem::path path_;
  CompileOptions options_;
  msl::LibraryCache cache_;
  std::shared_ptr<Library> index_;  // if the library came out of the cache
  std::unique_ptr<TranslationUnit> unit_;
  std::mutex mutex_;
};

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return Error{"cannot read '" + path.string() + "': it is a folder"};
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"cannot read '" + path.string() + "': " + std::strerror(errno)};
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

CompileResult compile_source(std::string source, const std::filesystem::path& path, const CompileOptions& options) {
  const auto code = std::make_shared<SourceCode>(std::move(source), path, options);
  return code->compile(code);
}

}  // namespace

CompileResult compile(std::string_view source, const CompileOptions& options) {
  return compile_source(std::string(source), {}, options);
}

CompileResult compile_file(const std::filesystem::path& path, const CompileOptions& options) {
  auto source = read_file(path);
  if (!source) return {nullptr, {{.message = source.error()}}, {}};
  return compile_source(std::move(*source), path, options);
}

PreprocessResult preprocess(std::string_view source, const CompileOptions& options) {
  return msl::on_big_stack([&] { return msl::preprocess_source(std::string(source), {}, options); });
}

PreprocessResult preprocess_file(const std::filesystem::path& path, const CompileOptions& options) {
  auto source = read_file(path);
  if (!source) return {"", {{.message = source.error()}}};
  return msl::on_big_stack([&] { return msl::preprocess_source(*source, path, options); });
}

}  // namespace metalloid
