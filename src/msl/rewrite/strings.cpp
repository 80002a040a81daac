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

bool names_pointer(const TokenStream& tokens, size_t name) {
  return name > 0 && tokens.is(name, tok::identifier) &&
         (tokens.is(name - 1, tok::star, tok::kw_const, tok::kw_auto) || tokens.is_word(name - 1, "constant"));
}

// The variable of `constant char* text = "text"` or `constant char* constant texts[] = {"some", "text"}`.
size_t initialised_pointer(const TokenStream& tokens, size_t i) {
  size_t name = i - 2;
  if (tokens.is(tokens.enclosing(i), tok::l_brace) && tokens.is(i - 1, tok::l_brace, tok::comma)) {
    i = tokens.enclosing(i);
    if (i < 2 || !tokens.is(i - 2, tok::r_square)) return no_token;
    name = tokens.match(i - 2) - 1;
  }
  return tokens.is(i - 1, tok::equal) && names_pointer(tokens, name) ? name : no_token;
}

// A cast is no constant expression: a `constexpr` pointer is a const one, which is set all the same.
void soften_constexpr(Rewriting& r, size_t name) {
  for (size_t k = name; k > 0 && !r.tokens.is(k - 1, tok::semi, tok::l_brace, tok::r_brace); --k)
    if (r.tokens.is(k - 1, tok::kw_constexpr)) {
      r.edits.erase(k - 1);
      r.edits.insert_before(name, "const");
    }
}

}  // namespace

void place_strings_in_constant_memory(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  const bool logs_are_metals = !defines_log(tokens);
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!is_string(tokens, i) || tokens.verbatim(i) || tokens.is(i - 1, tok::string_literal)) continue;
    size_t end = i + 1;
    while (tokens.is(end, tok::string_literal)) ++end;
    if (!tokens.is(end, tok::comma, tok::r_paren, tok::semi, tok::r_brace)) continue;
    bool passed = tokens.is(i - 1, tok::l_paren, tok::comma) && is_argument(tokens, r.outline, logs_are_metals, i);
    bool returned = r.outline.in_function(i) && tokens.is(i - 1, tok::kw_return);
    size_t pointer = initialised_pointer(tokens, i);
    if (pointer != no_token && !tokens.is(i - 1, tok::comma)) soften_constexpr(r, pointer);
    if (passed || returned || pointer != no_token)
      r.edits.insert_before(i, "(__attribute__((opencl_global_device)) const char*)");
  }
}

}  // namespace metalloid::msl
