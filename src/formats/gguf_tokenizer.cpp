// The tokenizer in a GGUF file: "llama" is SentencePiece's, which joins by scores; "gpt2" is byte-level with a list of
// pairs to join.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/byte_letters.hpp"
#include "formats/gguf.hpp"
#include "formats/marked_text.hpp"
#include "formats/tokenizer.hpp"

namespace metalloid::formats {
namespace {

enum TokenType : int64_t { normal = 1, unknown, control, user_defined, unused, byte };

class GgufTokenizerReader {
 public:
  explicit GgufTokenizerReader(const Gguf& gguf) : gguf_(gguf) {}

  Result<Tokenizer> read() {
    const auto model = gguf_.text("tokenizer.ggml.model");
    if (!model) return error("it has no tokenizer (no entry tokenizer.ggml.model)");
    is_byte_level_ = *model == "gpt2";
    if (!is_byte_level_ && *model != "llama")
      return error(fmt::format("its tokenizer is '{}', which is not supported; 'llama' and 'gpt2' are", *model));
    for (const Status& step :
         {read_vocabulary(), is_byte_level_ ? read_merges() : read_spaces(), read_special_tokens()})
      if (!step) return error(step.error());
    Result<Tokenizer> made = Tokenizer::make(std::move(rules_));
    if (!made) return error(made.error());
    return made;
  }

 private:
  Error error(const std::string& what) const { return Error{fmt::format("cannot read '{}': {}", gguf_.path(), what)}; }

  Status read_vocabulary() {
    const auto* tokens = gguf_.texts("tokenizer.ggml.tokens");
    if (tokens == nullptr || tokens->empty()) return Error{"its tokenizer has no tokens"};
    const auto* types = gguf_.integers("tokenizer.ggml.token_type");
    const auto* scores = gguf_.numbers("tokenizer.ggml.scores");
    if (scores == nullptr && !is_byte_level_) return Error{"its tokenizer has no scores"};
    if ((types != nullptr && types->size() != tokens->size()) ||
        (scores != nullptr && scores->size() != tokens->size()))
      return Error{"its tokenizer has not as many scores and types as tokens"};
    for (size_t i = 0; i < tokens->size(); ++i) {
      const std::string_view spelling = (*tokens)[i];
      const int64_t type = types == nullptr ? normal : (*types)[i];
      VocabularyEntry entry;
      entry.spelling = spelling;
      entry.is_special = type == control || type == user_defined;
      if (type == user_defined)
        entry.text = spelling;
      else if (type != control)
        entry.text = is_byte_level_ ? bytes_of_letters(spelling) : text_of_marked(spelling);
      entry.score = scores == nullptr ? 0 : static_cast<float>((*scores)[i]);
      if (std::isnan(entry.score)) return Error{fmt::format("the score of token {} is not a number", i)};
      rules_.vocabulary.push_back(std::move(entry));
    }
    return success();
  }

  Status read_spaces() {
    rules_.space_mark = sentencepiece_space;
    if (gguf_.flag("tokenizer.ggml.add_space_prefix").value_or(true)) rules_.prefix = SpacePrefix::every;
    return success();
  }

  Status read_merges() {
    rules_.is_byte_level = true;
    const auto name = gguf_.text("tokenizer.ggml.pre").value_or("gpt-2");
    const auto* words = words_of_gguf(name);
    if (words == nullptr)
      return Error{
          fmt::format("its tokenizer splits words as '{}' does, which is not supported; gpt-2, llama-bpe, "
                      "smollm, qwen2 and some others are",
                      name)};
    for (const std::string& expression : *words)
      if (const Status added = rules_.splitter.add_expression(expression); !added) return added;
    is_llama3_ = words == words_of_gguf("llama-bpe");
    rules_.prefers_whole_words = is_llama3_;

    const auto* merges = gguf_.texts("tokenizer.ggml.merges");
    if (merges == nullptr) return Error{"its tokenizer has no merges"};
    rules_.merges.emplace();
    for (const std::string_view merge : *merges) {
      const size_t space = merge.find(' ', 1);
      if (space == std::string_view::npos) return Error{fmt::format("its tokenizer's merge '{}' is no pair", merge)};
      rules_.merges->emplace_back(merge.substr(0, space), merge.substr(space + 1));
    }
    return success();
  }

  Status read_special_tokens() {
    const auto special = [&](const char* name, Token otherwise) -> Token {
      const auto token = gguf_.integer(fmt::format("tokenizer.ggml.{}_token_id", name));
      if (!token) return static_cast<size_t>(otherwise) < rules_.vocabulary.size() ? otherwise : no_token;
      return static_cast<Token>(std::min<uint64_t>(*token, INT32_MAX));
    };
    // What SentencePiece has where the file does not say.
    const Token beginning = special("bos", is_byte_level_ ? no_token : 1);
    rules_.unknown = special("unknown", is_byte_level_ ? no_token : 0);
    if (gguf_.flag("tokenizer.ggml.add_bos_token").value_or(!is_byte_level_ || is_llama3_))
      rules_.beginning = beginning;
    for (const Token end : {special("eos", is_byte_level_ ? no_token : 2), special("eot", no_token)})
      if (end != no_token) rules_.ends.push_back(end);
    for (size_t i = 0; i < rules_.vocabulary.size(); ++i)  // Llama 3 ends what an assistant says with this one
      if (rules_.vocabulary[i].is_special && rules_.vocabulary[i].spelling == "<|eot_id|>")
        rules_.ends.push_back(static_cast<Token>(i));
    return success();
  }

  const Gguf& gguf_;
  TokenizerRules rules_;
  bool is_byte_level_ = false, is_llama3_ = false;
};

}  // namespace

Result<Tokenizer> read_gguf_tokenizer(const Gguf& gguf) {
  return GgufTokenizerReader(gguf).read();
}

}  // namespace metalloid::formats
