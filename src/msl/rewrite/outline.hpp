// The shape of a translation unit without its meaning: which braces are namespaces, classes, functions or initialisers,
// where statements and declarations begin and end, and where in a declaration the function's name and parameters are.
// Built once, before any rule runs.
#pragma once

#include <optional>
#include <vector>

#include "msl/rewrite/token_stream.hpp"

namespace metalloid::msl {

enum class ScopeKind : uint8_t { namespace_, class_, function, initializer };

// A declaration or statement: [begin, end). `stop` is where its head ends: the `;`, or the `{` of its body.
struct Statement {
  size_t begin = 0, stop = 0, end = 0;
  ScopeKind scope = ScopeKind::namespace_;
  size_t scope_brace = no_token;  // the `{` it stands in; no_token at file level
};

// name ( parameters ) qualifiers
struct FunctionHead {
  size_t name_begin = 0;  // of a possibly qualified name, or `operator`
  size_t open = 0, close = 0;
};

class Outline {
 public:
  explicit Outline(const TokenStream& tokens);

  // In the order of their first tokens; statements inside a statement's body come after it.
  const std::vector<Statement>& statements() const { return statements_; }

  // What the innermost braces around a token are.
  ScopeKind scope(size_t i) const;

  // Whether the innermost braces around a token are a function's or are nested inside a function.
  bool in_function(size_t i) const;

  std::optional<FunctionHead> function_head(const Statement& statement) const;

  bool is_explicit_instantiation(const Statement& statement) const;

 private:
  void build();
  ScopeKind classify(size_t brace, const Statement& head, bool fresh) const;
  bool ends_lambda_head(size_t i) const;
  size_t enclosing_brace(size_t i) const;

  const TokenStream& tokens_;
  std::vector<Statement> statements_;
  std::vector<ScopeKind> kinds_;  // by index of the `{`
};

}  // namespace metalloid::msl
