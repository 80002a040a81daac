// The tokens of a translation unit with their brackets matched: what every rule reads. Indices out of range are legal
// everywhere and read as the final eof, so that a rule may look at its neighbours without asking where it stands.
#pragma once

#include <clang/Basic/IdentifierTable.h>
#include <clang/Lex/Token.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringRef.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace metalloid::msl {

inline constexpr size_t no_token = ~size_t(0);

class TokenStream {
 public:
  TokenStream(llvm::ArrayRef<clang::Token> tokens, llvm::function_ref<bool(clang::SourceLocation)> verbatim);

  size_t size() const { return tokens_.size(); }
  const clang::Token& operator[](size_t i) const { return i < tokens_.size() ? tokens_[i] : tokens_.back(); }

  bool is(size_t i, clang::tok::TokenKind kind) const { return (*this)[i].is(kind); }
  template <class... Kinds>
  bool is(size_t i, clang::tok::TokenKind first, Kinds... others) const {
    return (*this)[i].isOneOf(first, others...);
  }
  bool is_word(size_t i, llvm::StringRef text) const { return word(i) == text; }

  // The text of an identifier or keyword, empty for anything else.
  llvm::StringRef word(size_t i) const;

  // Whether the token comes from the standard library and must stay.
  bool verbatim(size_t i) const { return i >= verbatim_.size() || verbatim_[i]; }

  // The partner of a bracket, or no_token. match(i) > i for an opening one.
  size_t match(size_t i) const { return i < match_.size() ? match_[i] : no_token; }
  bool opens(size_t i) const { return match(i) != no_token && match(i) > i; }

  // The innermost bracket around a token, or no_token at file level.
  size_t enclosing(size_t i) const { return i < enclosing_.size() ? enclosing_[i] : no_token; }
  bool inside_parentheses(size_t i) const;

  // From an opening bracket to one past its partner; from anything else to the next token.
  size_t next(size_t i) const { return opens(i) ? match(i) + 1 : i + 1; }

  // From `<` to one past the `>` that closes a template argument list, or no_token where `<` is a comparison. A `>>`
  // that closes two lists ends the inner one at itself.
  size_t skip_angles(size_t i, size_t end) const;

  // `[[` of an attribute. Its end is one past the second `]`.
  bool is_attribute(size_t i) const;
  size_t attribute_end(size_t i) const { return match(i) + 1; }
  // Whether a token is one of an attribute's own words, as `threadgroup` in [[threadgroup(0)]].
  bool inside_attribute(size_t i) const;

  // Past attributes of any spelling, alignas and the annotations that pragmas leave.
  size_t skip_attributes(size_t i) const;
  // Past every `template <...>` in front of a declaration.
  size_t skip_template_headers(size_t i, size_t end) const;

 private:
  void match_brackets();

  llvm::ArrayRef<clang::Token> tokens_;
  std::vector<size_t> match_;
  std::vector<size_t> enclosing_;
  std::vector<bool> verbatim_;
};

}  // namespace metalloid::msl
