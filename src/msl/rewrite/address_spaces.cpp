// Address spaces: keywords in Metal, attributes in Clang. `thread` is what Clang calls the default address space, which
// every other one converts to, so it vanishes.
#include <llvm/ADT/StringSwitch.h>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

// What Clang needs in place of a keyword; nullptr for words that are none. Payloads of ray tracing and mesh shaders
// live in the thread's own memory here.
const char* spelling(llvm::StringRef word) {
  return llvm::StringSwitch<const char*>(word)
      .Case("device", "__attribute__((opencl_global))")
      .Cases({"threadgroup", "threadgroup_imageblock"}, "__attribute__((opencl_local))")
      .Case("constant", "__attribute__((opencl_global_device)) const")
      .Cases({"thread", "ray_data", "object_data"}, "")
      .Default(nullptr);
}

// Words that are keywords only in front of a type, because real programs use them as names.
bool is_soft(llvm::StringRef word) {
  return word == "ray_data" || word == "object_data";
}

bool is_keyword(const TokenStream& tokens, size_t i) {
  llvm::StringRef word = tokens.word(i);
  if (word.empty() || !is_address_space(word) || tokens.inside_attribute(i)) return false;
  if (i > 0 && tokens.is(i - 1, tok::period, tok::arrow, tok::coloncolon)) return false;
  return !is_soft(word) || !tokens.word(i + 1).empty();
}

}  // namespace

bool is_address_space(llvm::StringRef word) {
  return spelling(word) != nullptr;
}

bool qualifies_variable(const TokenStream& tokens, size_t i, size_t end) {
  for (size_t k = i + 1; k < end;) {
    size_t past_attributes = tokens.skip_attributes(k);
    if (past_attributes != k) {
      k = past_attributes;
      continue;
    }
    if (tokens.is(k, tok::star, tok::amp, tok::ampamp)) return false;
    if (tokens.is(k, tok::l_paren)) return !tokens.is(k + 1, tok::star, tok::amp);
    if (tokens.is(k, tok::equal, tok::l_square, tok::l_brace, tok::comma, tok::r_paren, tok::semi)) return true;
    size_t past = tokens.is(k, tok::less) ? tokens.skip_angles(k, end) : no_token;
    k = past == no_token ? k + 1 : past;
  }
  return true;
}

// `device float* p` becomes `__attribute__((opencl_global)) float* p`, wherever a qualifier may stand.
void spell_address_spaces(Rewriting& r) {
  for (size_t i = 0; i < r.tokens.size(); ++i)
    if (!r.tokens.verbatim(i) && !r.edits.is_cut(i) && is_keyword(r.tokens, i))
      r.edits.replace(i, spelling(r.tokens.word(i)));
}

// A variable in threadgroup or constant memory is declared inside a function like any local; to Clang it is a static.
void make_locals_static(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::function || tokens.verbatim(statement.begin)) continue;
    if (tokens.is(statement.begin, tok::kw_using, tok::kw_typedef, tok::kw_return)) continue;
    if (r.allocated_arrays.contains(statement.begin)) continue;
    for (size_t k = statement.begin; k < statement.stop;) {
      size_t past_attributes = tokens.skip_attributes(k);
      if (past_attributes != k) {
        k = past_attributes;
        continue;
      }
      if (tokens.is(k, tok::equal, tok::l_square, tok::l_brace, tok::l_paren, tok::comma) ||
          tokens.is(k, tok::kw_static, tok::kw_extern))
        break;
      if ((tokens.is_word(k, "threadgroup") || tokens.is_word(k, "constant")) && is_keyword(tokens, k) &&
          qualifies_variable(tokens, k, statement.stop)) {
        r.edits.insert_before(k, "static");
        break;
      }
      size_t past = tokens.is(k, tok::less) ? tokens.skip_angles(k, statement.stop) : no_token;
      k = past == no_token ? k + 1 : past;
    }
  }
}

// `threadgroup float tile[8][8]` as a parameter: Clang checks the address space before the array decays, and rejects
// it. Written out, it is `threadgroup float (*tile)[8]`.
void pass_arrays_as_pointers(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens.verbatim(i) || !tokens.inside_parentheses(i) || !is_keyword(tokens, i)) continue;
    if (*spelling(tokens.word(i)) == '\0') continue;
    size_t end = tokens.match(tokens.enclosing(i));
    if (end == no_token || !qualifies_variable(tokens, i, end)) continue;
    size_t bound = i + 1;
    while (bound < end && (!tokens.is(bound, tok::l_square, tok::comma, tok::equal) || tokens.is_attribute(bound))) {
      size_t past = tokens.is(bound, tok::less) ? tokens.skip_angles(bound, end) : no_token;
      bound = past == no_token ? tokens.next(bound) : past;
    }
    if (!tokens.is(bound, tok::l_square) || !tokens.opens(bound) || !tokens.is(bound - 1, tok::identifier)) continue;
    bool nested = tokens.is(bound + 1, tok::r_square) ? tokens.is(bound + 2, tok::l_square)
                                                      : tokens.is(tokens.match(bound) + 1, tok::l_square);
    nested = nested && !tokens.is_attribute(tokens.match(bound) + 1);
    r.edits.insert_before(bound - 1, nested ? "(*" : "*");
    if (nested) r.edits.insert_after(bound - 1, ")");
    r.edits.erase(bound, tokens.match(bound) + 1);
  }
}

// `coherent` and `coherent(system)` ask that others see what is written once a fence has been passed. Ordinary memory
// has that property on every device here, so the word goes.
void drop_coherence(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens.is_word(i, "coherent") || tokens.verbatim(i)) continue;
    bool scoped = tokens.is(i + 1, tok::l_paren) && tokens.match(i + 1) == i + 3 &&
                  (tokens.is_word(i + 2, "device") || tokens.is_word(i + 2, "system"));
    bool beside = tokens.is_word(i + 1, "device") || (i > 0 && tokens.is_word(i - 1, "device")) ||
                  tokens.is(i + 1, tok::kw_const, tok::kw_volatile);
    if (scoped)
      r.edits.cut(i, i + 4);
    else if (beside)
      r.edits.erase(i);
  }
}

}  // namespace metalloid::msl
