// The public call: source and options in, a library out, by way of the disk cache where it can.
#include <metalloid/compiler.hpp>

#include <fstream>
#include <sstream>

#include "big_stack.hpp"
#include "preprocess.hpp"
#include "translation_unit.hpp"

namespace metalloid {

namespace {

using msl::TranslationUnit;

// Code from a source that has been parsed.
class SourceCode final : public CodeProvider {
 public:
  explicit SourceCode(std::unique_ptr<TranslationUnit> unit) : unit_(std::move(unit)) {}

  Result<std::shared_ptr<const Code>> code(size_t function) override {
    return msl::on_big_stack([&] { return unit_->emit(function); });
  }

 private:
  std::unique_ptr<TranslationUnit> unit_;
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
  CompileResult result;
  auto unit = std::make_unique<TranslationUnit>(std::move(source), path, options);
  const bool parsed = msl::on_big_stack([&] { return unit->parse(); });
  result.diagnostics = unit->take_diagnostics();
  result.included_files = unit->included_files();
  if (!parsed) {
    if (!has_errors(result.diagnostics)) result.diagnostics.push_back({.message = "the source could not be compiled"});
    return result;
  }
  auto functions = unit->functions();
  auto constants = unit->function_constants();
  result.library = std::make_shared<Library>(std::move(functions), std::move(constants),
                                             std::make_shared<SourceCode>(std::move(unit)));
  return result;
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
