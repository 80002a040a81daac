#include "msl/rewrite/edits.hpp"

#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <tuple>

namespace metalloid::msl {

namespace tok = clang::tok;

Edits::Edits(clang::Preprocessor& preprocessor, const TokenStream& tokens)
    : preprocessor_(preprocessor), tokens_(tokens), erased_(tokens.size()), cut_(tokens.size()) {}

void Edits::replace(size_t i, llvm::StringRef text) {
  erase(i);
  insert_before(i, text);
}

void Edits::erase(size_t begin, size_t end) {
  for (size_t i = begin; i < end && i < erased_.size(); ++i) erased_[i] = true;
}

void Edits::cut(size_t begin, size_t end) {
  for (size_t i = begin; i < end && i < cut_.size(); ++i) cut_[i] = true;
}

std::vector<clang::Token> Edits::apply() {
  std::sort(insertions_.begin(), insertions_.end(), [](const Insertion& a, const Insertion& b) {
    return std::tie(a.place, a.order) < std::tie(b.place, b.order);
  });
  std::vector<clang::Token> out;
  out.reserve(tokens_.size() + 8 * insertions_.size());
  auto insertion = insertions_.begin();
  for (size_t i = 0; i < tokens_.size(); ++i) {
    for (size_t side = 0; side < 2; ++side) {
      if (side == 1 && !erased_[i] && !cut_[i]) out.push_back(tokens_[i]);
      for (; insertion != insertions_.end() && insertion->place == 2 * i + side; ++insertion)
        if (!cut_[i]) append(out, *insertion->snippet, tokens_[i]);
    }
  }
  return out;
}

// Clang's parser finds its way back in cached tokens by their locations, so a token that may begin a name or a type
// needs one of its own: an expansion, at the anchor, of the preprocessor's scratch memory. So does a literal, whose
// spelling lives there.
void Edits::append(std::vector<clang::Token>& out, const Snippet& snippet, const clang::Token& anchor) {
  bool attribute = !snippet.empty() && snippet.front().is(tok::kw___attribute);
  for (clang::Token token : snippet) {
    bool begins_name = !attribute && token.isOneOf(tok::identifier, tok::kw_decltype);
    if (token.isLiteral() || begins_name) {
      std::string spelling = token.isLiteral() ? std::string(token.getLiteralData(), token.getLength())
                                               : token.getIdentifierInfo()->getName().str();
      preprocessor_.CreateString(spelling, token, anchor.getLocation(), anchor.getLocation());
    } else {
      token.setLocation(anchor.getLocation());
    }
    out.push_back(token);
  }
}

const Edits::Snippet* Edits::lex(llvm::StringRef text) {
  auto [entry, fresh] = lexed_.try_emplace(text);
  if (!fresh) return &entry->second;
  // The map's key is null-terminated, as the lexer wants it, and lives as long as the tokens do.
  llvm::StringRef kept = entry->first();
  clang::Lexer lexer(clang::SourceLocation(), preprocessor_.getLangOpts(), kept.begin(), kept.begin(), kept.end());
  clang::Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(tok::eof); lexer.LexFromRawLexer(token)) {
    if (token.is(tok::raw_identifier)) preprocessor_.LookUpIdentifierInfo(token);
    entry->second.push_back(token);
  }
  return &entry->second;
}

}  // namespace metalloid::msl
