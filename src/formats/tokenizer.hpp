// Text to a model's tokens and back. Tokenizers come in three kinds of files, but do the same few things: cut out the
// special tokens, mark spaces, split the rest into words, and in each word join neighbours, beginning with single
// characters or bytes, until no pair is left that makes a token. TokenizerRules says how each of that is done; the
// readers below fill it in.
#pragma once

#include <cstdint>
#include <metalloid/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/word_splitter.hpp"

namespace metalloid::formats {

class Gguf;

using Token = int32_t;
inline constexpr Token no_token = -1;

// Control tokens have no text of their own. Special ones, control or not, are found in a text before anything else.
struct VocabularyEntry {
  std::string spelling;  // as joining sees it: "▁time", "Ġtime", "<0x0A>"
  std::string text;      // as it is printed: " time", "\n"
  float score = 0;
  bool is_special = false;
  bool takes_space_before = false, takes_space_after = false;  // of special tokens
};

enum class SpacePrefix { none, first, every };

struct TokenizerRules {
  std::vector<VocabularyEntry> vocabulary;
  Token beginning = no_token;  // before every text
  std::vector<Token> ends;     // after which a model has no more to say
  Token unknown = no_token;
  bool fuses_unknown = false;

  // A space before the text's first part, or before every part between special tokens.
  SpacePrefix prefix = SpacePrefix::none;
  bool prefix_only_where_missing = false;
  std::string space_mark;  // takes the place of spaces
  WordSplitter splitter;
  bool is_byte_level = false;        // letters of the vocabulary stand for bytes
  bool prefers_whole_words = false;  // a word that is a token is not joined from smaller ones

  // The pairs to join, the first ones first; without them, any two that together are a token, by that one's score.
  std::optional<std::vector<std::pair<std::string, std::string>>> merges;
};

class Tokenizer {
 public:
  // The error is about the rules.
  static Result<Tokenizer> make(TokenizerRules rules);

  size_t size() const { return rules_.vocabulary.size(); }
  Token beginning() const { return rules_.beginning; }
  bool is_end(Token token) const;

  // Begins with the token that every text begins with, if there is one.
  Result<std::vector<Token>> encode(std::string_view text) const;

  // Bytes: a character of several may be spread over several tokens. After the beginning (or no_token) a token loses
  // the space that encode() put before the text.
  std::string decode(Token token, Token previous) const;

 private:
  struct Merge {
    float rank;  // the lowest is joined first
    Token token;
  };

  explicit Tokenizer(TokenizerRules rules) : rules_(std::move(rules)) {}
  Status index();
  Status index_merges();
  Token find(std::string_view spelling) const;
  Status encode_part(std::string_view text, bool is_first, std::vector<Token>& tokens) const;
  Status encode_word(std::string_view word, std::vector<Token>& tokens) const;
  Status encode_unknown(std::string_view character, std::vector<Token>& tokens) const;

  TokenizerRules rules_;
  std::unordered_map<std::string, Token> by_spelling_;
  std::unordered_map<uint64_t, Merge> merges_;
  std::vector<Token> special_[256];  // by their first byte, the longest first
  Token bytes_[256];                 // the tokens of single bytes, where unknown characters are spelled by them
};

// llama2.c's file says nothing of how many tokens there are: the model does.
Result<Tokenizer> read_llama2c_tokenizer(const std::string& path, size_t size);

Result<Tokenizer> read_gguf_tokenizer(const Gguf& gguf);

// tokenizer.json of Hugging Face. Which tokens end a text is said in other files.
Result<Tokenizer> read_huggingface_tokenizer(const std::string& path, const std::vector<Token>& ends);

}  // namespace metalloid::formats
