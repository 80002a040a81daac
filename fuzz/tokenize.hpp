// Uses a tokenizer that came out of a fuzzed file on texts of every kind, and decodes every token that it has.
#pragma once

#include "formats/tokenizer.hpp"

inline void tokenize(const metalloid::formats::Tokenizer& tokenizer) {
  using metalloid::formats::Token;
  for (const char* text : {"", "Once upon a time, there was", " \n\t 123 it's\u00e4\u20ac\U0001F600", "\xff\xc3\x28",
                           "<s>aaaaaaaaaaaaaaaaaaaa</s><|eot_id|>"}) {
    const auto tokens = tokenizer.encode(text);
    if (!tokens) continue;
    for (const Token token : *tokens)
      if (token < 0 || static_cast<size_t>(token) >= tokenizer.size()) __builtin_trap();
  }
  const auto size = static_cast<Token>(tokenizer.size());
  for (Token token = -1; token <= size; ++token) {
    (void)tokenizer.decode(token, token - 1);
    (void)tokenizer.is_end(token);
  }
}
