#include "msl/attributes.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "msl/diagnostics.hpp"

namespace metalloid::msl {

namespace {

constexpr llvm::StringLiteral prefix = "metal.";

enum class On { function, variable };

struct AttributeSpec {
  const char* name;
  On on;
  unsigned min_arguments, max_arguments;
};

// Metal's attributes for compute, and where they stand: on functions, or on parameters, members and variables.
constexpr AttributeSpec specs[] = {
    {"metal_kernel", On::function, 0, 0},  // what `kernel` becomes, keyword or attribute
    {"visible", On::function, 0, 0},
    {"stitchable", On::function, 0, 0},
    {"host_name", On::function, 1, 1},
    {"max_total_threads_per_threadgroup", On::function, 1, 1},
    {"required_threads_per_threadgroup", On::function, 1, 3},
    {"user_annotation", On::function, 1, 1},
    {"buffer", On::variable, 1, 1},
    {"texture", On::variable, 1, 1},
    {"sampler", On::variable, 1, 1},
    {"threadgroup", On::variable, 1, 1},
    {"id", On::variable, 1, 1},
    {"function_constant", On::variable, 1, 1},
    {"thread_position_in_grid", On::variable, 0, 0},
    {"thread_position_in_threadgroup", On::variable, 0, 0},
    {"thread_index_in_threadgroup", On::variable, 0, 0},
    {"thread_index_in_simdgroup", On::variable, 0, 0},
    {"thread_index_in_quadgroup", On::variable, 0, 0},
    {"threadgroup_position_in_grid", On::variable, 0, 0},
    {"threadgroups_per_grid", On::variable, 0, 0},
    {"threads_per_grid", On::variable, 0, 0},
    {"threads_per_threadgroup", On::variable, 0, 0},
    {"dispatch_threads_per_threadgroup", On::variable, 0, 0},
    {"simdgroup_index_in_threadgroup", On::variable, 0, 0},
    {"simdgroups_per_threadgroup", On::variable, 0, 0},
    {"dispatch_simdgroups_per_threadgroup", On::variable, 0, 0},
    {"threads_per_simdgroup", On::variable, 0, 0},
    {"thread_execution_width", On::variable, 0, 0},
    {"quadgroup_index_in_threadgroup", On::variable, 0, 0},
    {"quadgroups_per_threadgroup", On::variable, 0, 0},
    {"dispatch_quadgroups_per_threadgroup", On::variable, 0, 0},
    {"grid_origin", On::variable, 0, 0},
    {"grid_size", On::variable, 0, 0},
};

// The argument of an attribute on a parameter, member or variable: a number or a string.
std::optional<std::string> argument_text(clang::Sema& sema, const clang::ParsedAttr& attribute, unsigned index) {
  if (attribute.isArgIdent(index)) return attribute.getArgAsIdent(index)->getIdentifierInfo()->getName().str();
  clang::Expr* expression = attribute.getArgAsExpr(index);
  if (const auto* string = llvm::dyn_cast<clang::StringLiteral>(expression->IgnoreParenImpCasts()))
    return string->getString().str();
  clang::Expr::EvalResult result;
  if (!expression->isValueDependent() && expression->EvaluateAsInt(result, sema.Context))
    return llvm::toString(result.Val.getInt(), 10);
  return std::nullopt;
}

template <size_t Index>
struct MetalAttribute : clang::ParsedAttrInfo {
  static constexpr const AttributeSpec& spec = specs[Index];
  static constexpr Spelling spellings[] = {{clang::ParsedAttr::AS_CXX11, spec.name},
                                           {clang::ParsedAttr::AS_GNU, spec.name}};

  MetalAttribute() {
    NumArgs = spec.min_arguments;
    OptArgs = spec.max_arguments - spec.min_arguments;
    Spellings = spellings;
  }

  bool diagAppertainsToDecl(clang::Sema& sema, const clang::ParsedAttr& attribute,
                            const clang::Decl* declaration) const override {
    const bool is_function = llvm::isa<clang::FunctionDecl, clang::FunctionTemplateDecl>(declaration);
    const bool is_variable = llvm::isa<clang::VarDecl, clang::FieldDecl>(declaration);
    if (spec.on == On::function ? is_function : is_variable) return true;
    const char* place = spec.on == On::function ? "a function" : "a parameter, a member or a variable";
    report_error(sema.getDiagnostics(), attribute.getLoc(), fmt::format("'{}' belongs on {}", spec.name, place));
    return false;
  }

  AttrHandling handleDeclAttribute(clang::Sema& sema, clang::Decl* declaration,
                                   const clang::ParsedAttr& attribute) const override {
    return spec.on == On::function ? keep_expressions(sema, declaration, attribute)
                                   : keep_text(sema, declaration, attribute);
  }

 private:
  // On a function the arguments may depend on template parameters: annotations are instantiated with the function.
  AttrHandling keep_expressions(clang::Sema& sema, clang::Decl* declaration, const clang::ParsedAttr& attribute) const {
    llvm::SmallVector<clang::Expr*, 3> arguments;
    for (unsigned index = 0; index < attribute.getNumArgs(); ++index)
      if (attribute.isArgExpr(index)) arguments.push_back(attribute.getArgAsExpr(index));
    if (clang::Attr* annotation = sema.CreateAnnotationAttr(attribute, prefix.str() + spec.name, arguments))
      declaration->addAttr(annotation);
    return AttributeApplied;
  }

  // Elsewhere an annotation would reach code generation and pin the variable in memory, so its text is kept in an
  // attribute that means nothing to it.
  AttrHandling keep_text(clang::Sema& sema, clang::Decl* declaration, const clang::ParsedAttr& attribute) const {
    std::array<std::string, 2> text = {prefix.str() + spec.name, ""};
    if (attribute.getNumArgs() > 0) {
      auto argument = argument_text(sema, attribute, 0);
      if (!argument) {
        report_error(sema.getDiagnostics(), attribute.getLoc(),
                     fmt::format("the argument of '{}' must be a constant integer", spec.name));
        return AttributeNotApplied;
      }
      if (argument->starts_with('-')) {
        report_error(sema.getDiagnostics(), attribute.getLoc(),
                     fmt::format("the argument of '{}' must not be negative", spec.name));
        return AttributeNotApplied;
      }
      text[1] = std::move(*argument);
    }
    std::array<llvm::StringRef, 2> references = {text[0], text[1]};
    declaration->addAttr(clang::SuppressAttr::Create(sema.Context, references.data(), references.size(), attribute));
    return AttributeApplied;
  }
};

// Clang keeps pointers to these: they stay where they are made.
template <size_t Index>
clang::ParsedAttrInfoRegistry::Add<MetalAttribute<Index>> registration(specs[Index].name, "");

template <size_t... Index>
std::array<const void*, sizeof...(Index)> all_registrations(std::index_sequence<Index...>) {
  return {&registration<Index>...};
}
[[maybe_unused]] const auto registrations = all_registrations(std::make_index_sequence<std::size(specs)>());

std::string expression_text(const clang::ASTContext& context, const clang::Expr* expression) {
  const clang::Expr* bare = expression->IgnoreParenImpCasts();
  if (const auto* constant = llvm::dyn_cast<clang::ConstantExpr>(bare))
    bare = constant->getSubExpr()->IgnoreParenImpCasts();
  if (const auto* string = llvm::dyn_cast<clang::StringLiteral>(bare)) return string->getString().str();
  clang::Expr::EvalResult result;
  if (!expression->isValueDependent() && expression->EvaluateAsInt(result, context))
    return llvm::toString(result.Val.getInt(), 10);
  return "";
}

}  // namespace

void for_each_attribute(const clang::Decl* declaration,
                        llvm::function_ref<void(llvm::StringRef name, const std::string& argument)> visit) {
  if (!declaration->hasAttrs()) return;
  for (const clang::Attr* attribute : declaration->getAttrs()) {
    if (const auto* annotation = llvm::dyn_cast<clang::AnnotateAttr>(attribute)) {
      llvm::StringRef name = annotation->getAnnotation();
      if (!name.consume_front(prefix)) continue;
      const bool has_argument = annotation->args_size() > 0;
      visit(name, has_argument ? expression_text(declaration->getASTContext(), *annotation->args_begin()) : "");
    } else if (const auto* kept = llvm::dyn_cast<clang::SuppressAttr>(attribute)) {
      if (kept->diagnosticIdentifiers_size() != 2) continue;
      llvm::StringRef name = *kept->diagnosticIdentifiers_begin();
      if (name.consume_front(prefix)) visit(name, kept->diagnosticIdentifiers_begin()[1].str());
    }
  }
}

std::optional<std::string> find_attribute(const clang::Decl* declaration, llvm::StringRef name) {
  std::optional<std::string> found;
  for_each_attribute(declaration, [&](llvm::StringRef candidate, const std::string& argument) {
    if (candidate == name && !found) found = argument;
  });
  return found;
}

std::optional<uint64_t> find_number(const clang::Decl* declaration, llvm::StringRef name) {
  const auto text = find_attribute(declaration, name);
  uint64_t number = 0;
  if (!text || llvm::StringRef(*text).getAsInteger(10, number)) return std::nullopt;
  return number;
}

}  // namespace metalloid::msl
