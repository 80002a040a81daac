#include "rewriter.hpp"

#include "rules.hpp"

namespace metalloid::msl {

RewriteResult rewrite(clang::Preprocessor& preprocessor, llvm::ArrayRef<clang::Token> input,
                      llvm::function_ref<bool(clang::SourceLocation)> verbatim) {
  RewriteResult result;
  if (input.empty()) return result;

  TokenStream tokens(input, verbatim);
  Outline outline(tokens);
  Edits edits(preprocessor, tokens);
  Rewriting rewriting{preprocessor, tokens, outline, edits, result, {}};

  for (auto* rule : {cut_graphics_functions, mark_kernels, defer_instantiations, unqualify_member_functions,
                     place_attributes, declare_function_constants, size_arrays_by_function_constants,
                     make_locals_static, spell_address_spaces, pass_arrays_as_pointers, drop_coherence,
                     cast_between_half_and_bfloat, load_conditional_operands, type_literals})
    rule(rewriting);

  result.tokens = edits.apply();
  return result;
}

}  // namespace metalloid::msl
