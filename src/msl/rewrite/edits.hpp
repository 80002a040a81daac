// What the rules want changed, recorded token by token and applied once at the end. New tokens are given as text; they
// take the location of the token they stand next to, so that diagnostics point at what the user wrote.
#pragma once

#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>

#include <vector>

#include "msl/rewrite/token_stream.hpp"

namespace metalloid::msl {

class Edits {
 public:
  Edits(clang::Preprocessor& preprocessor, const TokenStream& tokens);

  void insert_before(size_t i, llvm::StringRef text) { insert(2 * i, text); }
  void insert_after(size_t i, llvm::StringRef text) { insert(2 * i + 1, text); }
  void replace(size_t i, llvm::StringRef text);
  void erase(size_t i) { erased_[i] = true; }
  void erase(size_t begin, size_t end);

  // Erases a range together with everything that other rules insert there.
  void cut(size_t begin, size_t end);
  bool is_cut(size_t i) const { return cut_[i]; }

  std::vector<clang::Token> apply();

 private:
  using Snippet = llvm::SmallVector<clang::Token, 8>;
  struct Insertion {
    size_t place;  // 2 * index, one more for "after"
    size_t order;  // as recorded
    const Snippet* snippet;
  };
  void insert(size_t place, llvm::StringRef text) { insertions_.push_back({place, insertions_.size(), lex(text)}); }
  void append(std::vector<clang::Token>& out, const Snippet& snippet, const clang::Token& anchor);
  const Snippet* lex(llvm::StringRef text);

  clang::Preprocessor& preprocessor_;
  const TokenStream& tokens_;
  std::vector<Insertion> insertions_;
  std::vector<bool> erased_, cut_;
  llvm::StringMap<Snippet> lexed_;
};

}  // namespace metalloid::msl
