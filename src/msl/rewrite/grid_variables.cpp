// Grid values outside of functions, `uint index [[thread_position_in_grid]];`. To Clang they are constants defined
// elsewhere; they become parameters of the kernels (grid_parameters.hpp).
#include <metalloid/reflection.hpp>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

void declare_grid_variables(Rewriting& r) {
  const auto names_grid_value = [](llvm::StringRef name) { return grid_value_named(name.str()) != GridValue::none; };
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::namespace_ || r.tokens.verbatim(statement.begin)) continue;
    if (!r.tokens.is(statement.stop, tok::semi) || !has_attribute(r.tokens, statement, names_grid_value)) continue;
    for (size_t k = statement.begin; k < statement.stop; k = r.tokens.next(k))
      if (r.tokens.is(k, tok::kw_static, tok::kw_const, tok::kw_extern)) r.edits.erase(k);
    r.edits.insert_before(r.tokens.skip_attributes(statement.begin), "extern const");
  }
}

}  // namespace metalloid::msl
