// Grid values outside of functions, `uint index [[thread_position_in_grid]];`. To Clang they are constants defined
// elsewhere; they become parameters of the kernels (grid_parameters.hpp).
#include <metalloid/reflection.hpp>
#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

bool has_grid_attribute(const TokenStream& tokens, const Statement& statement) {
  for (size_t k = statement.begin; k < statement.stop; k = tokens.next(k)) {
    if (!tokens.is_attribute(k)) continue;
    for (size_t t = k + 2; t < tokens.match(k + 1); t = tokens.next(t))
      if (grid_value_named(tokens.word(t).str()) != GridValue::none) return true;
  }
  return false;
}

}  // namespace

void declare_grid_variables(Rewriting& r) {
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::namespace_ || r.tokens.verbatim(statement.begin)) continue;
    if (!r.tokens.is(statement.stop, tok::semi) || !has_grid_attribute(r.tokens, statement)) continue;
    for (size_t k = statement.begin; k < statement.stop; k = r.tokens.next(k))
      if (r.tokens.is(k, tok::kw_static, tok::kw_const, tok::kw_extern)) r.edits.erase(k);
    r.edits.insert_before(r.tokens.skip_attributes(statement.begin), "extern const");
  }
}

}  // namespace metalloid::msl
