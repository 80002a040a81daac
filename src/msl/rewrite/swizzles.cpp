// Swizzles in templates. Clang, when it instantiates an operator whose operands are properties, as swizzles are, or
// properties and numbers, takes it for one of its own, and finds that vectors are no numbers; of v.xy += w, it changes
// a copy of v.xy. So where a swizzle is read, v.xy becomes v.__get_xy(); what it is given becomes an object, as in v.xy
// = __metal_assigned(2); and v.xy *= 2 is written out: v.xy = __metal_assigned(v.__get_xy() * (2)). A single colour,
// v.r, becomes the component itself, v.x.
#include <llvm/ADT/StringSet.h>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace {

namespace tok = clang::tok;

constexpr llvm::StringRef positions = "xyzw", colours = "rgba";

// The positions that a name stands for; empty if it is no swizzle, or a component's own name.
std::string swizzle_of(llvm::StringRef name) {
  if (name.empty() || name.size() > 4) return "";
  if (name.find_first_not_of(positions) == llvm::StringRef::npos) return name.size() > 1 ? name.str() : "";
  if (name.find_first_not_of(colours) != llvm::StringRef::npos) return "";
  std::string translated;
  for (const char colour : name) translated += positions[colours.find(colour)];
  return translated;
}

bool is_access(const TokenStream& tokens, size_t i) {
  return tokens.is(i, tok::period, tok::arrow);
}

bool closes(const TokenStream& tokens, size_t i) {
  return tokens.match(i) != no_token && !tokens.opens(i);
}

// Names that classes of the program have members of: they need not be vectors' components.
llvm::StringSet<> own_members(const Rewriting& r) {
  llvm::StringSet<> names;
  for (size_t i = 0; i < r.tokens.size(); ++i)
    if (!r.tokens.verbatim(i) && !is_access(r.tokens, i - 1) && !swizzle_of(r.tokens.word(i)).empty() &&
        r.outline.scope(i) == ScopeKind::class_)
      names.insert(r.tokens.word(i));
  return names;
}

bool is_assignment(const TokenStream& tokens, size_t i) {
  return tokens.is(i, tok::equal, tok::plusequal, tok::minusequal, tok::starequal, tok::slashequal, tok::percentequal,
                   tok::ampequal, tok::pipeequal, tok::caretequal, tok::lesslessequal, tok::greatergreaterequal);
}

bool is_step(const TokenStream& tokens, size_t i) {
  return tokens.is(i, tok::plusplus, tok::minusminus);
}

// Whether it may matter how often [begin, end) is evaluated.
bool has_effects(const TokenStream& tokens, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (tokens.is(i, tok::l_paren) || is_step(tokens, i) || is_assignment(tokens, i)) return true;
  return false;
}

std::string text_of(const Rewriting& r, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text += r.preprocessor.getSpelling(r.tokens[i]) + " ";
  return text;
}

// One past the right side of an assignment, which begins at `i`.
size_t right_side_end(const TokenStream& tokens, size_t i, size_t limit) {
  for (size_t conditions = 0; i < limit;) {
    if (closes(tokens, i) || tokens.is(i, tok::semi, tok::comma) || (tokens.is(i, tok::colon) && conditions == 0))
      return i;
    if (tokens.is(i, tok::question)) ++conditions;
    if (tokens.is(i, tok::colon)) --conditions;
    const size_t past_angles = tokens.is(i, tok::less) ? tokens.skip_angles(i, limit) : no_token;
    i = past_angles != no_token ? past_angles : tokens.next(i);
  }
  return limit;
}

// The first token of what the access at `i` is of: a name or something in brackets, with its calls, subscripts and
// accesses.
size_t operand_begin(const TokenStream& tokens, size_t i) {
  while (i > 0) {
    --i;
    while (closes(tokens, i)) {
      i = tokens.match(i);
      if (i == 0 || !(tokens.is(i - 1, tok::identifier) || closes(tokens, i - 1))) return i;
      --i;
    }
    while (i > 1 && tokens.is(i - 1, tok::coloncolon)) i -= 2;
    if (i == 0 || !is_access(tokens, i - 1)) return i;
    --i;
  }
  return i;
}

}  // namespace

void resolve_swizzles_in_templates(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  // Clang's own vectors have swizzles of their own.
  for (size_t i = 0; i < tokens.size(); ++i)
    if (!tokens.verbatim(i) && tokens.is_word(i, "ext_vector_type")) return;
  const llvm::StringSet<> members = own_members(r);
  size_t done = 0;
  for (const Statement& statement : r.outline.statements()) {
    if (tokens.skip_template_headers(statement.begin, statement.stop) == statement.begin) continue;
    for (size_t i = std::max(statement.begin, done); i < statement.end; ++i) {
      if (!is_access(tokens, i) || tokens.verbatim(i + 1)) continue;
      const llvm::StringRef name = tokens.word(i + 1);
      const std::string swizzle = swizzle_of(name);
      const size_t after = i + 2;
      if (swizzle.empty() || members.contains(name) || tokens.is(after, tok::l_paren)) continue;
      if (swizzle.size() == 1) {
        r.edits.replace(i + 1, swizzle);
        continue;
      }
      if (is_step(tokens, after) || is_step(tokens, operand_begin(tokens, i) - 1)) continue;
      if (!is_assignment(tokens, after)) {
        r.edits.replace(i + 1, "__get_" + swizzle + "()");
        continue;
      }
      const size_t end = right_side_end(tokens, after + 1, statement.end);
      if (tokens.is(after, tok::equal)) {
        if (tokens.is(after + 1, tok::l_brace)) continue;
        r.edits.insert_after(after, "__metal_assigned(");
        r.edits.insert_before(end, ")");
      } else if (const size_t begin = operand_begin(tokens, i); !has_effects(tokens, begin, i)) {
        const std::string operation =
            llvm::StringRef(tok::getPunctuatorSpelling(tokens[after].getKind())).drop_back().str();
        r.edits.replace(
            after, "= __metal_assigned(" + text_of(r, begin, i + 1) + "__get_" + swizzle + "() " + operation + " (");
        r.edits.insert_before(end, "))");
      }
    }
    done = std::max(done, statement.end);
  }
}

}  // namespace metalloid::msl
