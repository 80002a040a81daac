// Clang has no conversion between half and bfloat, Metal has. A cast to a type that may be one of them is spelled
// __metal_cast<T>(e), which goes through float where it has to: static_cast<T>(e), and, where T is a half, a bfloat or
// a name that stands for some type (a template parameter, an alias), the casts (T)e and T(e). Nor does Clang convert
// vectors of a program's own, `typedef half half8 __attribute__((ext_vector_type(8)))`.
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSwitch.h>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

bool is_other_scalar(llvm::StringRef word) {
  return llvm::StringSwitch<bool>(word)
      .Cases({"bool", "char", "short", "int", "long", "float", "double", "void", "signed", "unsigned"}, true)
      .Cases({"uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t"}, true)
      .Cases({"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"}, true)
      .Default(false);
}

// Names of types, each with the range of tokens where it means that.
class TypeNames {
 public:
  explicit TypeNames(const Rewriting& r) : tokens_(r.tokens) {
    for (const Statement& statement : r.outline.statements()) {
      if (tokens_.verbatim(statement.begin)) continue;
      add_template_parameters(statement);
      add_alias(statement);
    }
  }

  bool contains(size_t i) const {
    if (!tokens_.is(i, tok::identifier)) return false;
    llvm::StringRef word = tokens_.word(i);
    if (word == "half" || word == "bfloat") return true;
    auto ranges = ranges_.find(word);
    if (ranges == ranges_.end()) return false;
    for (auto [begin, end] : ranges->second)
      if (begin <= i && i < end) return true;
    return false;
  }

 private:
  void add(size_t name, size_t begin, size_t end) {
    if (tokens_.is(name, tok::identifier)) ranges_[tokens_.word(name)].push_back({begin, end});
  }

  void add_template_parameters(const Statement& statement) {
    size_t past = tokens_.skip_template_headers(statement.begin, statement.stop);
    for (size_t k = statement.begin; k < past; ++k)
      if (tokens_.is(k, tok::kw_typename, tok::kw_class) && tokens_.is(k + 2, tok::comma, tok::greater, tok::equal))
        add(k + 1, past, statement.end);
  }

  void add_alias(const Statement& statement) {
    size_t begin = tokens_.skip_template_headers(statement.begin, statement.stop);
    size_t scope_end = statement.scope_brace == no_token ? tokens_.size() : tokens_.match(statement.scope_brace);
    const size_t stop = without_attribute(begin, statement.stop);
    if (tokens_.is(begin, tok::kw_using) && tokens_.is(begin + 2, tok::equal) && begin == statement.begin) {
      for (size_t k = begin + 3; k < stop; ++k)
        if (tokens_.is(k, tok::star, tok::amp, tok::l_paren)) return;
      add(begin + 1, statement.end, scope_end);
    } else if (tokens_.is(begin, tok::kw_typedef) && stop > begin + 2 && tokens_.is(statement.stop, tok::semi)) {
      for (size_t k = begin + 1; k < stop; ++k)
        if (tokens_.is(k, tok::star, tok::amp, tok::l_paren, tok::l_square)) return;
      add(stop - 1, statement.end, scope_end);
    }
  }

  size_t without_attribute(size_t begin, size_t stop) const {
    for (size_t k = begin; k < stop; ++k)
      if (tokens_.is(k, tok::kw___attribute)) return k;
    return stop;
  }

  const TokenStream& tokens_;
  llvm::StringMap<std::vector<std::pair<size_t, size_t>>> ranges_;
};

// One past the cast-expression that begins at `i`, or no_token where the tokens do not look like one.
size_t operand_end(const TokenStream& tokens, size_t i) {
  while (tokens.is(i, tok::minus, tok::plus, tok::exclaim, tok::tilde, tok::star, tok::amp, tok::plusplus,
                   tok::minusminus))
    ++i;
  if (tokens.is(i, tok::l_paren) && tokens.opens(i)) {
    size_t past = tokens.next(i);
    // `(T)x`: a cast of its own, whose operand is part of ours.
    bool cast = tokens[past].isLiteral() || tokens.is(past, tok::identifier, tok::kw_static_cast);
    if (cast) return operand_end(tokens, past);
    i = past;
  } else if (tokens[i].isLiteral()) {
    return i + 1;
  } else if (!tokens.word(i).empty() && !tokens.is(i, tok::kw_return, tok::kw_const)) {
    for (;;) {
      ++i;
      if (tokens.is(i, tok::less)) {
        size_t past = tokens.skip_angles(i, tokens.size());
        bool arguments = past != no_token && tokens.is(past, tok::l_paren, tok::coloncolon, tok::l_brace);
        if (arguments) i = past;
      }
      if (!tokens.is(i, tok::coloncolon)) break;
      ++i;
    }
  } else {
    return no_token;
  }
  for (;;) {
    if (tokens.is(i, tok::l_paren, tok::l_square, tok::l_brace)) {
      if (!tokens.opens(i)) return no_token;
      i = tokens.next(i);
    } else if (tokens.is(i, tok::period, tok::arrow)) {
      i += tokens.is(i + 1, tok::kw_template) ? 3 : 2;
      if (tokens.is(i, tok::less)) {
        size_t past = tokens.skip_angles(i, tokens.size());
        if (past != no_token && tokens.is(past, tok::l_paren)) i = past;
      }
    } else if (tokens.is(i, tok::plusplus, tok::minusminus)) {
      ++i;
    } else {
      return i;
    }
  }
}

// `(e)` with exactly one expression in it, which a cast can take.
bool holds_one_expression(const TokenStream& tokens, size_t open) {
  if (!tokens.is(open, tok::l_paren) || !tokens.opens(open)) return false;
  size_t close = tokens.match(open);
  if (close == open + 1 || tokens.is(open + 1, tok::l_brace)) return false;
  if (close == open + 2 && is_other_scalar(tokens.word(open + 1))) return false;
  // `T (*f)(T)` and `T (&a)[4]` declare.
  if (tokens.is(open + 1, tok::star, tok::amp) && tokens.is(close + 1, tok::l_paren, tok::l_square)) return false;
  for (size_t k = open + 1; k < close;) {
    if (tokens.is(k, tok::comma, tok::ellipsis)) return false;
    size_t past = tokens.is(k, tok::less) ? tokens.skip_angles(k, close) : no_token;
    k = past == no_token ? tokens.next(k) : past;
  }
  return true;
}

void rewrite_static_cast(Rewriting& r, size_t i) {
  const TokenStream& tokens = r.tokens;
  size_t past = tokens.is(i + 1, tok::less) ? tokens.skip_angles(i + 1, tokens.size()) : no_token;
  if (past == no_token || !tokens.is(past, tok::l_paren)) return;
  bool scalar = true;
  for (size_t k = i + 2; k + 1 < past; ++k) {
    if (tokens.is(k, tok::star, tok::amp, tok::ampamp)) return;
    scalar = scalar && (is_other_scalar(tokens.word(k)) || tokens.is(k, tok::kw_const));
  }
  if (!scalar) r.edits.replace(i, "__metal_cast");
}

bool is_c_style(const TokenStream& tokens, size_t i) {
  return tokens.is(i - 1, tok::l_paren) && tokens.is(i + 1, tok::r_paren) && !tokens.is(i + 2, tok::l_brace) &&
         !tokens.is(i - 2, tok::kw_sizeof, tok::kw_alignof, tok::kw_decltype, tok::kw_alignas, tok::identifier,
                    tok::r_square);
}

void rewrite_c_style(Rewriting& r, size_t i) {
  size_t end = operand_end(r.tokens, i + 2);
  if (end == no_token || end == i + 2) return;
  r.edits.replace(i - 1, "__metal_cast<");
  r.edits.replace(i + 1, ">(");
  r.edits.insert_after(end - 1, ")");
}

// A type after a word, a `;` or a brace starts a declaration; after `<` it is part of a type.
bool is_functional(const TokenStream& tokens, size_t i) {
  if (!holds_one_expression(tokens, i + 1)) return false;
  if (tokens.is(i - 1, tok::kw_return)) return true;
  return tokens.word(i - 1).empty() && !tokens.is(i - 1, tok::period, tok::arrow, tok::coloncolon, tok::semi,
                                                  tok::l_brace, tok::r_brace, tok::less, tok::tilde, tok::greater);
}

void rewrite_functional(Rewriting& r, size_t i) {
  r.edits.insert_before(i, "__metal_cast<");
  r.edits.insert_after(i, ">");
}

}  // namespace

void spell_casts(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  TypeNames names(r);
  // Where expressions are: in bodies, arguments, constructors' initialisers, and after `=`.
  auto in_expression = [&](size_t i) {
    return r.outline.in_function(i) || tokens.inside_parentheses(i) || tokens.is(i - 1, tok::equal);
  };
  for (size_t i = 2; i < tokens.size(); ++i) {
    if (tokens.verbatim(i)) continue;
    if (tokens.is(i, tok::kw_static_cast)) {
      rewrite_static_cast(r, i);
    } else if (names.contains(i)) {
      if (is_c_style(tokens, i) && in_expression(i - 1))
        rewrite_c_style(r, i);
      else if (is_functional(tokens, i) && in_expression(i))
        rewrite_functional(r, i);
    }
  }
}

}  // namespace metalloid::msl
