#include "msl/rewrite/token_stream.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

TokenStream::TokenStream(llvm::ArrayRef<clang::Token> tokens, llvm::function_ref<bool(clang::SourceLocation)> verbatim)
    : tokens_(tokens), match_(tokens.size(), no_token), enclosing_(tokens.size(), no_token), verbatim_(tokens.size()) {
  for (size_t i = 0; i < tokens.size(); ++i)
    verbatim_[i] = tokens[i].is(tok::eof) || tokens[i].isAnnotation() || verbatim(tokens[i].getLocation());
  match_brackets();
}

// A closing bracket that fits no open one is ignored; an open one that is never closed stays unmatched.
void TokenStream::match_brackets() {
  std::vector<size_t> open;
  for (size_t i = 0; i < size(); ++i) {
    if (is(i, tok::l_paren, tok::l_square, tok::l_brace)) {
      enclosing_[i] = open.empty() ? no_token : open.back();
      open.push_back(i);
      continue;
    }
    if (is(i, tok::r_paren, tok::r_square, tok::r_brace)) {
      tok::TokenKind wanted = is(i, tok::r_paren) ? tok::l_paren : is(i, tok::r_square) ? tok::l_square : tok::l_brace;
      size_t depth = open.size();
      while (depth > 0 && !is(open[depth - 1], wanted) &&
             !(wanted != tok::l_brace && is(open[depth - 1], tok::l_brace)))
        --depth;
      if (depth > 0 && is(open[depth - 1], wanted)) {
        open.resize(depth);
        match_[i] = open.back();
        match_[open.back()] = i;
        open.pop_back();
      }
    }
    enclosing_[i] = open.empty() ? no_token : open.back();
  }
}

llvm::StringRef TokenStream::word(size_t i) const {
  const clang::Token& token = (*this)[i];
  if (token.isAnnotation() || token.isLiteral()) return {};
  const clang::IdentifierInfo* identifier = token.getIdentifierInfo();
  return identifier ? identifier->getName() : llvm::StringRef();
}

bool TokenStream::inside_parentheses(size_t i) const {
  return is(enclosing(i), tok::l_paren) && enclosing(i) < size();
}

size_t TokenStream::skip_angles(size_t i, size_t end) const {
  size_t depth = 0;
  for (size_t k = i; k < end && k < size(); k = next(k)) {
    if (is(k, tok::less)) {
      // `sizeof(T) < 4` and `2 < N` compare; a template's name is a word.
      if (k == i || !is(k - 1, tok::r_paren, tok::numeric_constant)) ++depth;
    } else if (is(k, tok::greater)) {
      if (--depth == 0) return k + 1;
    } else if (is(k, tok::greatergreater)) {
      if (depth == 1) return k;
      depth -= 2;
      if (depth == 0) return k + 1;
    } else if (is(k, tok::semi, tok::l_brace, tok::r_paren, tok::r_square, tok::r_brace, tok::eof)) {
      return no_token;
    }
  }
  return no_token;
}

bool TokenStream::is_attribute(size_t i) const {
  return is(i, tok::l_square) && is(i + 1, tok::l_square) && opens(i) && opens(i + 1) && match(i + 1) + 1 == match(i);
}

bool TokenStream::inside_attribute(size_t i) const {
  size_t around = enclosing(i);
  return around != no_token && around > 0 && is_attribute(around - 1);
}

size_t TokenStream::skip_attributes(size_t i) const {
  for (;;) {
    if (is_attribute(i))
      i = attribute_end(i);
    else if (is(i, tok::kw___attribute, tok::kw___declspec, tok::kw_alignas) && opens(i + 1))
      i = match(i + 1) + 1;
    else if ((*this)[i].isAnnotation() && i < size())
      ++i;
    else
      return i;
  }
}

size_t TokenStream::skip_template_headers(size_t i, size_t end) const {
  for (;;) {
    while (i < end && (*this)[i].isAnnotation()) ++i;
    if (!is(i, tok::kw_template) || !is(i + 1, tok::less)) return i;
    size_t past = skip_angles(i + 1, end);
    if (past == no_token) return i;
    i = past;
  }
}

}  // namespace metalloid::msl
