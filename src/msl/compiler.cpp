// The public call: source and options in, a library out, by way of the disk cache where it can.
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <metalloid/compiler.hpp>
#include <mutex>
#include <sstream>
#include <thread>

#include "msl/big_stack.hpp"
#include "msl/library_cache.hpp"
#include "msl/preprocess.hpp"
#include "msl/translation_unit.hpp"

namespace metalloid {

namespace {

using msl::TranslationUnit;

// Code from a source: out of the cache, else from the parsed source, which is parsed now if the library itself came out
// of the cache. A parsed source serves one thread at a time; when a thread finds it busy in the middle of a bulk of
// functions, it parses the source once more for itself.
class SourceCode final : public CodeProvider {
 public:
  SourceCode(std::string source, std::filesystem::path path, CompileOptions options)
      : source_(std::move(source)),
        path_(std::move(path)),
        options_(std::move(options)),
        cache_(source_, path_, options_) {}

  CompileResult compile(const std::shared_ptr<SourceCode>& self) {
    if (auto entry = cache_.load()) {
      index_ = entry->index;
      const auto read = [index = index_.get()](size_t i) { return *index->find(index->function_names()[i]); };
      auto library = std::make_shared<Library>(index_->function_names(), read, index_->function_constants(), self);
      return {std::move(library), std::move(entry->diagnostics), std::move(entry->included_files)};
    }
    CompileResult result;
    auto unit = std::make_unique<TranslationUnit>(source_, path_, options_);
    const bool parsed = msl::on_big_stack([&] { return unit->parse(); });
    result.diagnostics = unit->take_diagnostics();
    result.included_files = unit->included_files();
    if (!parsed) {
      if (!has_errors(result.diagnostics))
        result.diagnostics.push_back({.message = "the source could not be compiled"});
      return result;
    }
    cache_.store(unit->functions(), unit->function_constants(), result.diagnostics, result.included_files);
    functions_ = unit->functions();
    result.library = std::make_shared<Library>(functions_, unit->function_constants(), self);
    idle_.push_back(std::move(unit));
    units_ = 1;
    return result;
  }

  Result<std::shared_ptr<const Code>> code(size_t index) override {
    const Function& function = index_ ? *index_->find(index_->function_names()[index]) : functions_[index];
    if (auto cached = cache_.load_code(function)) return cached;
    std::unique_ptr<TranslationUnit> unit = take_unit();
    auto code = msl::on_big_stack([&]() -> Result<std::shared_ptr<const Code>> {
      if (!unit->is_parsed() && !unit->parse()) return Error{format(unit->take_diagnostics())};
      return unit->emit(index);
    });
    give_back(std::move(unit));
    if (code) cache_.store_code(function, *code);
    return code;
  }

 private:
  static constexpr size_t bulk = 32;  // functions made, after which more are likely to follow

  std::unique_ptr<TranslationUnit> take_unit() {
    std::unique_lock lock(mutex_);
    const auto may_parse_another = [&] {
      return units_ == 0 || (made_ >= bulk && units_ < std::thread::hardware_concurrency());
    };
    given_back_.wait(lock, [&] { return !idle_.empty() || may_parse_another(); });
    if (idle_.empty()) {
      ++units_;
      return std::make_unique<TranslationUnit>(source_, path_, options_);
    }
    auto unit = std::move(idle_.back());
    idle_.pop_back();
    return unit;
  }

  // One that did not parse (an included file is gone) is of no use to anybody.
  void give_back(std::unique_ptr<TranslationUnit> unit) {
    std::lock_guard lock(mutex_);
    ++made_;
    if (unit->is_parsed())
      idle_.push_back(std::move(unit));
    else
      --units_;
    given_back_.notify_one();
  }

  std::string source_;
  std::filesystem::path path_;
  CompileOptions options_;
  msl::LibraryCache cache_;
  std::shared_ptr<Library> index_;   // if the library came out of the cache,
  std::vector<Function> functions_;  // else the functions themselves
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<TranslationUnit>> idle_;
  size_t units_ = 0, made_ = 0;
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
