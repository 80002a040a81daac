#include "msl/air_symbols.hpp"

#include <algorithm>
#include <string>

namespace metalloid::msl {

namespace {

// Empty if the symbol is none of Apple's.
std::string name_in_headers(llvm::StringRef symbol) {
  symbol.consume_front("\1");
  if (!symbol.starts_with("air.")) return "";
  std::string name = "__" + symbol.str();
  std::ranges::replace(name, '.', '_');
  return name;
}

}  // namespace

clang::FunctionDecl* find_air_function(const clang::FunctionDecl* declared) {
  const auto* label = declared->getAttr<clang::AsmLabelAttr>();
  const std::string name = label ? name_in_headers(label->getLabel()) : "";
  if (name.empty()) return nullptr;
  clang::ASTContext& context = declared->getASTContext();
  for (clang::NamedDecl* found : context.getTranslationUnitDecl()->lookup(&context.Idents.get(name)))
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(found)) return function->getDefinition();
  return nullptr;
}

void link_air_functions(llvm::Module& module) {
  for (llvm::Function& declared : module) {
    if (!declared.isDeclaration()) continue;
    const std::string name = name_in_headers(declared.getName());
    llvm::Function* defined = name.empty() ? nullptr : module.getFunction(name);
    if (defined && defined->getFunctionType() == declared.getFunctionType()) declared.replaceAllUsesWith(defined);
  }
}

}  // namespace metalloid::msl
