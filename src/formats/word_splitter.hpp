// Splits text into words by regular expressions, those that models were trained with. Each takes apart the pieces that
// the one before it left; what it does not match stays as pieces in between.
#pragma once

#include <memory>
#include <metalloid/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::formats {

class WordSplitter {
 public:
  enum class Matches { kept, removed };
  enum class Rest { kept, removed };

  // The error says what is wrong with the expression.
  Status add_expression(const std::string& expression, Matches matches = Matches::kept, Rest rest = Rest::kept);
  Status add_literal(const std::string& text, Matches matches);

  Result<std::vector<std::string_view>> split(std::string_view text) const;

 private:
  struct Step {
    std::shared_ptr<const void> code;
    Matches matches;
    Rest rest;
  };

  Status add(const std::string& pattern, uint32_t options, Matches matches, Rest rest);

  std::vector<Step> steps_;
};

// GPT-2's, which ByteLevel of Hugging Face means, too.
extern const char* const gpt2_words;

// The expressions of a GGUF file's "tokenizer.ggml.pre"; null for names that are not known.
const std::vector<std::string>* words_of_gguf(std::string_view name);

}  // namespace metalloid::formats
