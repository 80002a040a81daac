#include "msl/translation_unit.hpp"

#include "msl/emit.hpp"
#include "msl/file_system.hpp"
#include "msl/forbidden.hpp"
#include "msl/instance.hpp"
#include "msl/invocation.hpp"
#include "msl/iterations.hpp"
#include "msl/precompiled_stdlib.hpp"
#include "msl/reachable.hpp"
#include "msl/reflect.hpp"
#include "msl/rewrite/rewriter.hpp"

namespace metalloid::msl {

// Lexes the whole source through Clang's preprocessor, rewrites the tokens and parses what comes out.
class ParseAction final : public clang::ASTFrontendAction {
 public:
  explicit ParseAction(std::string macros) : macros_(std::move(macros)) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<clang::ASTConsumer>();
  }

  void ExecuteAction() override {
    clang::CompilerInstance& instance = getCompilerInstance();
    if (!instance.hasSema()) instance.createSema(getTranslationUnitKind(), nullptr);
    clang::Preprocessor& preprocessor = instance.getPreprocessor();
    preprocessor.setPredefines(preprocessor.getPredefines() + macros_);
    parser_ = std::make_unique<clang::Parser>(preprocessor, instance.getSema(), /*SkipFunctionBodies=*/false);
    // Sema looks at comments as they are lexed, and at where it is when it has something to say about one.
    instance.getSema().CurContext = instance.getASTContext().getTranslationUnitDecl();
    rewrite_tokens(preprocessor);
    instance.getSema().CurContext = nullptr;
    if (!instance.getDiagnostics().hasErrorOccurred()) parse(instance.getSema());
  }

  void EndSourceFileAction() override { parser_.reset(); }

 private:
  static constexpr size_t most_tokens = 8'000'000;  // real libraries have up to 200,000

  void rewrite_tokens(clang::Preprocessor& preprocessor) {
    preprocessor.EnterMainSourceFile();
    std::vector<clang::Token> tokens;
    do {
      preprocessor.Lex(tokens.emplace_back());
      if (tokens.size() == most_tokens) {
        report_error(preprocessor.getDiagnostics(), tokens.back().getLocation(),
                     "the source has more than 8 million tokens after preprocessing");
        return;
      }
    } while (tokens.back().isNot(clang::tok::eof));
    const clang::SourceManager& sources = preprocessor.getSourceManager();
    const auto is_stdlib = [&](clang::SourceLocation location) { return in_stdlib(sources, location); };
    report_forbidden(preprocessor.getDiagnostics(), tokens, is_stdlib);
    RewriteResult rewritten = rewrite(preprocessor, tokens, is_stdlib);
    for (const GraphicsFunction& function : rewritten.graphics_functions) {
      const unsigned id = preprocessor.getDiagnostics().getCustomDiagID(
          clang::DiagnosticsEngine::Warning, "'%0' is a %1 function: left out, only compute functions are compiled");
      preprocessor.Diag(function.location, id) << function.name << function.stage;
    }
    tokens_ = std::move(rewritten.tokens);
    preprocessor.EnterTokenStream(tokens_, /*DisableMacroExpansion=*/true, /*IsReinject=*/true);
  }

  void parse(clang::Sema& sema) {
    parser_->Initialize();
    clang::Parser::DeclGroupPtrTy declarations;
    clang::Sema::ModuleImportState imports;
    bool at_end = parser_->ParseFirstTopLevelDecl(declarations, imports);
    while (!at_end) at_end = parser_->ParseTopLevelDecl(declarations, imports);
    // Template kernels are instantiated later and may declare things in the outermost scope then, which the parser
    // owns.
    sema.TUScope = parser_->getCurScope();
  }

  std::string macros_;
  std::vector<clang::Token> tokens_;
  std::unique_ptr<clang::Parser> parser_;
};

TranslationUnit::TranslationUnit(std::string source, const std::filesystem::path& path, const CompileOptions& options)
    : source_(std::move(source)), path_(path), options_(options) {}

TranslationUnit::~TranslationUnit() {
  if (action_) action_->EndSourceFile();
}

bool TranslationUnit::parse() {
  auto precompiled = precompiled_stdlib(options_);
  if (!precompiled) {
    collector_.add({.message = "the standard library does not compile: " + precompiled.error()});
    return false;
  }
  precompiled_ = *precompiled;

  instance_ = make_instance(options_, path_, precompiled_.get(), collector_);
  const clang::FrontendInputFile input = make_input(*instance_, source_, options_, path_);
  auto action = std::make_unique<ParseAction>(user_macros(options_));
  if (!action->BeginSourceFile(*instance_, input)) return false;
  action_ = std::move(action);
  llvm::consumeError(action_->Execute());
  if (instance_->getDiagnostics().hasErrorOccurred()) return false;

  Reflection reflection = reflect(instance_->getSema(), options_.for_linking);
  functions_ = std::move(reflection.functions);
  declarations_ = std::move(reflection.declarations);
  constants_ = std::move(reflection.constants);
  walker_ = std::make_unique<ReachabilityWalker>(instance_->getSema(), options_.for_linking);
  check_bodies();
  return !instance_->getDiagnostics().hasErrorOccurred();
}

// Checks functions through to their last call, so that what is wrong with them is said now. Where a source instantiates
// its templates very often, it is said when the code is asked for: making them all takes as long as compiling them.
void TranslationUnit::check_bodies() {
  const auto deferred =
      llvm::count_if(declarations_, [](auto* function) { return function->isTemplateInstantiation(); });
  for (size_t i = 0; i < declarations_.size(); ++i) {
    clang::FunctionDecl* declaration = declarations_[i];
    if (functions_[i].kind == FunctionKind::external) continue;  // not all are for kernels
    if (deferred > most_checked_instantiations && declaration->isTemplateInstantiation()) continue;
    const clang::FunctionDecl* definition = nullptr;
    if (instantiate(declaration) && declaration->isDefined(definition))
      walker_->from(const_cast<clang::FunctionDecl*>(definition));
  }
}

Result<std::shared_ptr<const Code>> TranslationUnit::emit(size_t index) {
  if (const auto failed = failed_.find(index); failed != failed_.end()) return Error{failed->second};
  clang::DiagnosticsEngine& diagnostics = instance_->getDiagnostics();
  diagnostics.Reset(/*soft=*/true);
  collector_.take();
  const auto failure = [&](const std::string& otherwise) {
    std::vector<Diagnostic> said = collector_.take();
    diagnostics.Reset(/*soft=*/true);
    if (!has_errors(said)) said.push_back({.message = otherwise});
    return Error{failed_[index] = format(said)};
  };
  clang::FunctionDecl* declaration = declarations_[index];
  if (!instantiate(declaration)) return failure("'" + functions_[index].name + "' could not be instantiated");
  const clang::FunctionDecl* definition = nullptr;
  if (!declaration->isDefined(definition)) return failure("'" + functions_[index].name + "' has no definition");
  Reachable reachable = walker_->from(const_cast<clang::FunctionDecl*>(definition));
  if (diagnostics.hasErrorOccurred()) return failure("");
  end_iterations(instance_->getASTContext(), reachable);
  auto code = msl::emit(*instance_, functions_[index], reachable, constants_);
  if (!code || diagnostics.hasErrorOccurred()) return failure(code ? "" : code.error());
  return std::make_shared<const Code>(std::move(*code));
}

bool TranslationUnit::instantiate(clang::FunctionDecl* function) {
  if (!function->isTemplateInstantiation() || function->isDefined()) return true;
  clang::Sema& sema = instance_->getSema();
  function->setTemplateSpecializationKind(clang::TSK_ExplicitInstantiationDefinition);
  const clang::SourceLocation written = function->getPointOfInstantiation();
  sema.InstantiateFunctionDefinition(written.isValid() ? written : function->getLocation(), function,
                                     /*Recursive=*/true,
                                     /*DefinitionRequired=*/true, /*AtEndOfTU=*/true);
  sema.PerformPendingInstantiations();
  return !instance_->getDiagnostics().hasErrorOccurred();
}

std::vector<std::filesystem::path> TranslationUnit::included_files() const {
  std::vector<std::filesystem::path> files;
  if (!instance_ || !instance_->hasSourceManager()) return files;
  const clang::SourceManager& sources = instance_->getSourceManager();
  for (auto it = sources.fileinfo_begin(); it != sources.fileinfo_end(); ++it) {
    const llvm::StringRef name = it->first.getName();
    if (name.starts_with(stdlib_folder) || it->first == sources.getFileEntryRefForID(sources.getMainFileID())) continue;
    if (it->second->getBufferIfLoaded()) files.push_back(name.str());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace metalloid::msl
