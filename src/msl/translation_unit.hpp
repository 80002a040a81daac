// One Metal source, parsed: Clang's instance with the syntax tree, kept alive so that each function's code can be
// produced when it is asked for. Template kernels are instantiated then, too, not before.
#pragma once

#include <map>
#include <memory>
#include <metalloid/compiler.hpp>
#include <string>
#include <vector>

#include "msl/clang_headers.hpp"
#include "msl/diagnostics.hpp"

namespace metalloid::msl {

class ParseAction;
class ReachabilityWalker;

class TranslationUnit {
 public:
  // `path` names the file the source came from; empty for a string.
  TranslationUnit(std::string source, const std::filesystem::path& path, const CompileOptions& options);
  ~TranslationUnit();

  // Parses and reflects. Whether it worked; the diagnostics say why not.
  bool parse();
  bool is_parsed() const { return walker_ != nullptr; }
  std::vector<Diagnostic> take_diagnostics() { return collector_.take(); }

  const std::vector<Function>& functions() const { return functions_; }
  const std::vector<FunctionConstant>& function_constants() const { return constants_; }
  std::vector<std::filesystem::path> included_files() const;

  // The code of one function. The error is what the compiler says about it. One thread at a time.
  Result<std::shared_ptr<const Code>> emit(size_t function);

 private:
  static constexpr int most_checked_instantiations = 64;

  void check_bodies();
  bool instantiate(clang::FunctionDecl* function);

  std::string source_;
  std::filesystem::path path_;
  CompileOptions options_;
  DiagnosticCollector collector_;
  std::shared_ptr<const std::string> precompiled_;
  std::unique_ptr<clang::CompilerInstance> instance_;
  std::unique_ptr<ParseAction> action_;
  std::unique_ptr<ReachabilityWalker> walker_;
  std::vector<Function> functions_;
  std::vector<clang::FunctionDecl*> declarations_;
  std::vector<FunctionConstant> constants_;
  std::map<size_t, std::string> failed_;  // what was said of functions that do not compile
};

}  // namespace metalloid::msl
