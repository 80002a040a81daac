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

// `f("text")` passes it on, unless the words in front of the parenthesis say that it is none of the program's. A log is
// often a constant expression, in which a pointer stays in its address space; its names are taken from any.
bool is_argument(const TokenStream& tokens, size_t i) {
  size_t open = tokens.enclosing(i);
  if (!tokens.is(open, tok::l_paren) || open == no_token || open == 0) return false;
  if (tokens.inside_attribute(open) || tokens.is(open - 1, tok::l_paren)) return false;
  if (tokens.is(open - 1, tok::kw_static_assert, tok::kw__Static_assert, tok::kw_asm, tok::kw_sizeof)) return false;
  if (tokens.is_word(open - 1, "os_log") || tokens.is_word(open - 2, "os_log")) return false;
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
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!is_string(tokens, i) || tokens.verbatim(i) || tokens.is(i - 1, tok::string_literal)) continue;
    if (!r.outline.in_function(i)) continue;
    size_t end = i + 1;
    while (tokens.is(end, tok::string_literal)) ++end;
    if (!tokens.is(end, tok::comma, tok::r_paren, tok::semi)) continue;
    bool passed = tokens.is(i - 1, tok::l_paren, tok::comma) && is_argument(tokens, i);
    if (passed || tokens.is(i - 1, tok::kw_return) || initialises_pointer(tokens, i))
      r.edits.insert_before(i, "(__attribute__((opencl_global_device)) const char*)");
  }
}

}  // namespace metalloid::msl
