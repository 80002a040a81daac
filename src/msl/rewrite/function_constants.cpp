// Function constants get their values when a pipeline is made. To Clang they are variables defined elsewhere.
#include <llvm/ADT/StringSet.h>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

// The `constant` keyword of a declaration at namespace scope, or no_token.
size_t constant_keyword(const TokenStream& tokens, const Statement& statement) {
  for (size_t k = tokens.skip_attributes(statement.begin); k < statement.stop; k = tokens.next(k)) {
    if (tokens.is(k, tok::equal, tok::l_paren, tok::l_brace, tok::l_square)) break;
    if (tokens.is_word(k, "constant")) return qualifies_variable(tokens, k, statement.stop) ? k : no_token;
  }
  return no_token;
}

bool is_function_constant(const TokenStream& tokens, const Statement& statement) {
  return has_attribute(tokens, statement, [](llvm::StringRef name) { return name == "function_constant"; });
}

// The name a variable's declaration declares: the word in front of an attribute, a bound, an initialiser or the end.
size_t declared_name(const TokenStream& tokens, const Statement& statement, size_t from) {
  for (size_t k = from; k < statement.end; k = tokens.next(k))
    if (tokens.is(k, tok::identifier) &&
        (tokens.is_attribute(k + 1) || tokens.is(k + 1, tok::equal, tok::semi, tok::l_square, tok::l_brace)))
      return k;
  return no_token;
}

bool mentions(const TokenStream& tokens, size_t begin, size_t end, const llvm::StringSet<>& names) {
  for (size_t k = begin; k < end; ++k)
    if (tokens.is(k, tok::identifier) && names.contains(tokens.word(k))) return true;
  return false;
}

// Function constants and the constants computed from them.
llvm::StringSet<> specialised_constants(const Rewriting& r) {
  llvm::StringSet<> names;
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::namespace_ || r.tokens.verbatim(statement.begin)) continue;
    size_t keyword = constant_keyword(r.tokens, statement);
    if (keyword == no_token) continue;
    size_t name = declared_name(r.tokens, statement, keyword);
    if (name == no_token) continue;
    if (is_function_constant(r.tokens, statement) || mentions(r.tokens, name + 1, statement.end, names))
      names.insert(r.tokens.word(name));
  }
  return names;
}

}  // namespace

// `constant bool causal [[function_constant(0)]];` is an extern declaration.
void declare_function_constants(Rewriting& r) {
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::namespace_ && statement.scope != ScopeKind::class_) continue;
    if (r.tokens.verbatim(statement.begin)) continue;
    size_t keyword = constant_keyword(r.tokens, statement);
    if (keyword == no_token || !is_function_constant(r.tokens, statement)) continue;
    for (size_t k = statement.begin; k < statement.stop; k = r.tokens.next(k))
      if (r.tokens.is(k, tok::kw_static, tok::kw_constexpr, tok::kw_extern)) r.edits.erase(k);
    r.edits.insert_before(keyword, "extern");
  }
}

// `threadgroup float tile[size];` with a size that only the pipeline knows: Clang has no static arrays of variable
// length, so the name becomes a pointer to memory that the device sets aside when it knows the size.
void size_arrays_by_function_constants(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  llvm::StringSet<> names = specialised_constants(r);
  if (names.empty()) return;
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::function || tokens.verbatim(statement.begin)) continue;
    size_t keyword = statement.begin;
    while (keyword < statement.stop && !tokens.is_word(keyword, "threadgroup") &&
           !tokens.is(keyword, tok::equal, tok::l_paren, tok::l_brace))
      ++keyword;
    if (!tokens.is_word(keyword, "threadgroup") || !qualifies_variable(tokens, keyword, statement.stop)) continue;
    size_t name = declared_name(tokens, statement, keyword);
    if (name == no_token || !tokens.is(name + 1, tok::l_square) || !tokens.opens(name + 1)) continue;
    size_t close = tokens.match(name + 1);
    if (!mentions(tokens, name + 2, close, names) || !tokens.is(statement.stop, tok::semi)) continue;

    r.allocated_arrays.insert(statement.begin);
    std::string text = tokens.word(name).str(), count;
    for (size_t k = name + 2; k < close; ++k) count += r.preprocessor.getSpelling(tokens[k]) + ' ';
    r.edits.insert_before(name, "(*");
    r.edits.insert_after(name, ")");
    r.edits.cut(name + 1, close + 1);
    r.edits.insert_before(statement.stop, "= (decltype(" + text + "))__metal_threadgroup_alloc((" + count +
                                              ") * sizeof(*" + text + "), alignof(decltype(*" + text + ")))");
  }
}

}  // namespace metalloid::msl
