#include "msl/rewrite/rewriter.hpp"

#include <clang/Basic/SourceManager.h>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace {

// Files and macro expansions are verbatim as a whole: a run of tokens from the same one needs asking about once.
class CachedPredicate {
 public:
  CachedPredicate(const clang::SourceManager& sources, llvm::function_ref<bool(clang::SourceLocation)> predicate)
      : sources_(sources), predicate_(predicate) {}

  bool operator()(clang::SourceLocation location) {
    clang::FileID file = sources_.getFileID(location);
    if (file != file_ || file.isInvalid()) {
      file_ = file;
      answer_ = predicate_(location);
    }
    return answer_;
  }

 private:
  const clang::SourceManager& sources_;
  llvm::function_ref<bool(clang::SourceLocation)> predicate_;
  clang::FileID file_;
  bool answer_ = false;
};

}  // namespace

RewriteResult rewrite(clang::Preprocessor& preprocessor, llvm::ArrayRef<clang::Token> input,
                      llvm::function_ref<bool(clang::SourceLocation)> verbatim) {
  RewriteResult result;
  if (input.empty()) return result;

  TokenStream tokens(input, CachedPredicate(preprocessor.getSourceManager(), verbatim));
  Outline outline(tokens);
  Edits edits(preprocessor, tokens);
  Rewriting rewriting{preprocessor, tokens, outline, edits, result};

  for (auto* rule :
       {mark_entry_points, qualify_member_functions, place_attributes, declare_function_constants,
        size_arrays_by_function_constants, declare_grid_variables, make_locals_static, spell_address_spaces,
        pass_arrays_as_pointers, drop_coherence, spell_casts, load_conditional_operands, type_literals,
        resolve_swizzles_in_templates, place_strings_in_constant_memory})
    rule(rewriting);

  result.tokens = edits.apply();
  return result;
}

}  // namespace metalloid::msl
