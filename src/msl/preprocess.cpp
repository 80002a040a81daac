#include "msl/preprocess.hpp"

#include <clang/Frontend/PreprocessorOutputOptions.h>

#include "msl/clang_headers.hpp"
#include "msl/instance.hpp"
#include "msl/invocation.hpp"

namespace metalloid::msl {

namespace {

class PrintAction final : public clang::PreprocessorFrontendAction {
 public:
  PrintAction(std::string macros, std::string& text) : macros_(std::move(macros)), text_(text) {}

  void ExecuteAction() override {
    clang::Preprocessor& preprocessor = getCompilerInstance().getPreprocessor();
    preprocessor.setPredefines(preprocessor.getPredefines() + macros_);
    clang::PreprocessorOutputOptions options;
    options.ShowCPP = true;
    llvm::raw_string_ostream stream(text_);
    clang::DoPrintPreprocessedInput(preprocessor, &stream, options);
  }

 private:
  std::string macros_;
  std::string& text_;
};

}  // namespace

PreprocessResult preprocess_source(const std::string& source, const std::filesystem::path& path,
                                   const CompileOptions& options) {
  PreprocessResult result;
  DiagnosticCollector collector;
  auto instance = make_instance(options, path, nullptr, collector);
  const clang::FrontendInputFile input = make_input(*instance, source, options, path);
  PrintAction action(user_macros(options), result.text);
  if (action.BeginSourceFile(*instance, input)) {
    llvm::consumeError(action.Execute());
    action.EndSourceFile();
  }
  result.diagnostics = collector.take();
  return result;
}

}  // namespace metalloid::msl
