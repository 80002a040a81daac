// What the rules want changed, recorded token by token and applied once at the end. New tokens are given as text; they
// take the location of the token they stand next to, so that diagnostics point at what the user wrote.
#pragma once

#include "token_stream.hpp"

#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>

#include <string>
#include <vector>

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
  struct Insertion {
    size_t place;  // 2 * index, one more for "after"
    size_t order;  // as recorded
    std::string text;
  };
  void insert(size_t place, llvm::StringRef text);
  void append(std::vector<clang::Token>& out, llvm::StringRef text, const clang::Token& anchor);
  const llvm::SmallVector<clang::Token, 8>& lex(llvm::StringRef text);

  clang::Preprocessor& preprocessor_;
  const TokenStream& tokens_;
  std::vector<Insertion> insertions_;
  std::vector<bool> erased_, cut_;
  llvm::StringMap<llvm::SmallVector<clang::Token, 8>> lexed_;
};

}  // namespace metalloid::msl
