#include "formats/word_splitter.hpp"

#include <fmt/format.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <map>

namespace metalloid::formats {
namespace {

// A file's expression must not keep us busy for ever: no real one needs a thousandth of this for a word.
constexpr uint32_t most_steps_per_word = 1'000'000;

std::string message_of(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

Status WordSplitter::add_expression(const std::string& expression, Matches matches, Rest rest) {
  return add(expression, PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, matches, rest);
}

Status WordSplitter::add_literal(const std::string& text, Matches matches) {
  return add(text, PCRE2_LITERAL, matches, Rest::kept);
}

Status WordSplitter::add(const std::string& pattern, uint32_t options, Matches matches, Rest rest) {
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   options | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &place, nullptr);
  if (code == nullptr)
    return Error{fmt::format("the regular expression '{}' is wrong at {}: {}", pattern, place, message_of(error))};
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // for speed only: without it, matching interprets
  steps_.push_back({{code, [](pcre2_code* compiled) { pcre2_code_free(compiled); }}, matches, rest});
  return success();
}

Result<std::vector<std::string_view>> WordSplitter::split(std::string_view text) const {
  std::vector<std::string_view> pieces = {text};
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(pcre2_match_data_create(1, nullptr),
                                                                                  pcre2_match_data_free);
  pcre2_set_match_limit(context.get(), most_steps_per_word);
  for (const Step& step : steps_) {
    std::vector<std::string_view> smaller;
    const auto add = [&](std::string_view piece, bool is_kept) {
      if (is_kept && !piece.empty()) smaller.push_back(piece);
    };
    for (const std::string_view piece : pieces) {
      size_t begin = 0;  // of what is in no piece yet
      for (size_t from = 0; from < piece.size();) {
        const int found =
            pcre2_match(static_cast<const pcre2_code*>(step.code.get()), reinterpret_cast<PCRE2_SPTR>(piece.data()),
                        piece.size(), from, PCRE2_NOTEMPTY, match.get(), context.get());
        if (found == PCRE2_ERROR_NOMATCH) break;
        if (found < 0) return Error{fmt::format("cannot split the text into words: {}", message_of(found))};
        const PCRE2_SIZE* place = pcre2_get_ovector_pointer(match.get());
        // With \K and look-behind a match may begin before where it was searched.
        if (place[0] < begin || place[1] <= place[0])
          return Error{"cannot split the text into words: a match is empty"};
        add(piece.substr(begin, place[0] - begin), step.rest == Rest::kept);
        add(piece.substr(place[0], place[1] - place[0]), step.matches == Matches::kept);
        begin = from = place[1];
      }
      add(piece.substr(begin), step.rest == Rest::kept);
    }
    pieces = std::move(smaller);
  }
  return pieces;
}

const char* const gpt2_words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

const std::vector<std::string>* words_of_gguf(std::string_view name) {
  static const std::string digits = R"(\p{N})";
  static const auto modern = [](const char* numbers) {
    return fmt::format(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*)"
                       R"(|\s*[\r\n]+|\s+(?!\S)|\s+)",
                       numbers);
  };
  static const std::vector<std::string> gpt2 = {gpt2_words}, gpt2_single_digits = {digits, gpt2_words},
                                        llama3 = {modern(R"(\p{N}{1,3})")}, qwen2 = {modern(R"(\p{N})")};
  static const std::map<std::string_view, const std::vector<std::string>*> known = {{"gpt-2", &gpt2},
                                                                                    {"mpt", &gpt2},
                                                                                    {"olmo", &gpt2},
                                                                                    {"phi-2", &gpt2},
                                                                                    {"smollm", &gpt2_single_digits},
                                                                                    {"starcoder", &gpt2_single_digits},
                                                                                    {"refact", &gpt2_single_digits},
                                                                                    {"llama-bpe", &llama3},
                                                                                    {"llama3", &llama3},
                                                                                    {"llama-v3", &llama3},
                                                                                    {"qwen2", &qwen2}};
  const auto found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

}  // namespace metalloid::formats
