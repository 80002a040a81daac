// A string literal is in constant memory: `constant char*` to whoever receives it. To Clang it is an array in the
// default address space, which no conversion leads out of. Where a literal decays to a pointer it is cast; where it
// initialises an array, or is no expression at all, it stays.
#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

bool is_string(const TokenStream& tokens, size_t i) {
  return tokens.is(i, tok::string_literal, tok::kw___func__, tok::kw___FUNCTION__, tok::kw___PRETTY_FUNCTION__);
}

// Whether the program has a class of that name itself, as it may where the language has no logs yet.
bool defines_log(const TokenStream& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens.is(i, tok::kw_struct, tok::kw_class) && tokens.is_word(i + 1, "os_log") && !tokens.verbatim(i))
      return true;
  return false;
}

// `constant Type name("text")`, outside of functions.
bool initialises_constant(const TokenStream& tokens, const Outline& outline, size_t open) {
  return outline.scope(open) == ScopeKind::namespace_ && !tokens.is(tokens.enclosing(open), tok::l_paren) &&
         tokens.is(open - 1, tok::identifier) && tokens.is(open - 2, tok::identifier, tok::greater);
}

// `f("text")` passes it on, unless the words in front of the parenthesis say that it is none of the program's. Metal's
// log is often a constant expression, in which a pointer stays in its address space; its names are taken from any.
bool is_argument(const TokenStream& tokens, const Outline& outline, bool logs_are_metals, size_t i) {
  size_t open = tokens.enclosing(i);
  if (!tokens.is(open, tok::l_paren) || open == no_token || open == 0) return false;
  if (tokens.inside_attribute(open) || tokens.is(open - 1, tok::l_paren)) return false;
  if (tokens.is(open - 1, tok::kw_static_assert, tok::kw__Static_assert, tok::kw_asm, tok::kw_sizeof)) return false;
  if (logs_are_metals && (tokens.is_word(open - 1, "os_log") || tokens.is_word(open - 2, "os_log"))) return false;
  if (!outline.in_function(i) && !initialises_constant(tokens, outline, open)) return false;
  return !tokens.verbatim(open - 1) && (tokens.is(open - 1, tok::greater) || !tokens.word(open - 1).empty());
}

// `constant char* text = "text"`.
bool initialises_pointer(const TokenStream& tokens, size_t i) {
  return i > 2 && tokens.is(i - 1, tok::equal) && tokens.is(i - 2, tok::identifier) &&
         (tokens.is(i - 3, tok::star, tok::kw_const, tok::kw_auto));
}

}  // namespace

void place_strings_in_constant_memory(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  const bool logs_are_metals = !defines_log(tokens);
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!is_string(tokens, i) || tokens.verbatim(i) || tokens.is(i - 1, tok::string_literal)) continue;
    size_t end = i + 1;
    while (tokens.is(end, tok::string_literal)) ++end;
    if (!tokens.is(end, tok::comma, tok::r_paren, tok::semi)) continue;
    bool passed = tokens.is(i - 1, tok::l_paren, tok::comma) && is_argument(tokens, r.outline, logs_are_metals, i);
    bool kept = r.outline.in_function(i) && (tokens.is(i - 1, tok::kw_return) || initialises_pointer(tokens, i));
    if (passed || kept) r.edits.insert_before(i, "(__attribute__((opencl_global_device)) const char*)");
  }
}

}  // namespace metalloid::msl
