// Literals: Metal has no double, so `1.0` is a float; `1.0h` and `1h` are halves, `1.0bf` and `1bf` bfloats.
#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace {

struct Literal {
  llvm::StringRef digits, suffix;
  bool floating = false;
};

Literal split(llvm::StringRef text) {
  bool hexadecimal = text.starts_with_insensitive("0x");
  llvm::StringRef digits = hexadecimal ? "0123456789abcdefABCDEF.'" : "0123456789.'";
  size_t end = text.find_first_not_of(digits, hexadecimal ? 2 : 0);
  bool floating = text.substr(0, end).contains('.');
  if (end != llvm::StringRef::npos && llvm::StringRef(hexadecimal ? "pP" : "eE").contains(text[end])) {
    floating = true;
    size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    end = text.find_first_not_of("0123456789'", exponent);
  }
  return {text.substr(0, end), end == llvm::StringRef::npos ? llvm::StringRef() : text.substr(end), floating};
}

}  // namespace

void type_literals(Rewriting& r) {
  for (size_t i = 0; i < r.tokens.size(); ++i) {
    if (!r.tokens.is(i, clang::tok::numeric_constant) || r.tokens.verbatim(i)) continue;
    std::string text = r.preprocessor.getSpelling(r.tokens[i]);
    Literal literal = split(text);
    std::string digits = literal.floating ? literal.digits.str() : literal.digits.str() + ".0";
    if (literal.suffix.empty() && literal.floating)
      r.edits.replace(i, digits + "f");
    else if (literal.suffix.equals_insensitive("h"))
      r.edits.replace(i, digits + "f16");
    else if (literal.suffix.equals_insensitive("bf"))
      r.edits.replace(i, "((__bf16)" + digits + "f)");
  }
}

}  // namespace metalloid::msl
