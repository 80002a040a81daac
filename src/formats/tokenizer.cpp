#include "formats/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "formats/byte_letters.hpp"
#include "formats/join_symbols.hpp"
#include "formats/utf8.hpp"

namespace metalloid::formats {
namespace {

uint64_t key_of(Token left, Token right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

std::string replace_spaces(std::string_view text, const std::string& mark) {
  std::string replaced;
  for (const char letter : text)
    if (letter == ' ')
      replaced += mark;
    else
      replaced += letter;
  return replaced;
}

}  // namespace

Result<Tokenizer> Tokenizer::make(TokenizerRules rules) {
  Tokenizer tokenizer(std::move(rules));
  if (const Status indexed = tokenizer.index(); !indexed) return Error{indexed.error()};
  return tokenizer;
}

Status Tokenizer::index() {
  if (size() > static_cast<size_t>(std::numeric_limits<Token>::max())) return Error{"there are too many tokens"};
  const auto is_known = [&](Token token) { return token == no_token || static_cast<size_t>(token) < size(); };
  if (!is_known(rules_.beginning) || !is_known(rules_.unknown) ||
      !std::all_of(rules_.ends.begin(), rules_.ends.end(), is_known))
    return Error{fmt::format("a special token is beyond the {} tokens of the vocabulary", size())};

  for (size_t i = 0; i < size(); ++i) {
    const auto& [spelling, text, score, is_special, before, after] = rules_.vocabulary[i];
    const auto token = static_cast<Token>(i);
    if (spelling.empty()) continue;
    by_spelling_.emplace(spelling, token);
    if (is_special) special_[static_cast<uint8_t>(spelling[0])].push_back(token);
  }
  for (auto& tokens : special_)
    std::stable_sort(tokens.begin(), tokens.end(), [&](Token a, Token b) {
      return rules_.vocabulary[a].spelling.size() > rules_.vocabulary[b].spelling.size();
    });
  for (unsigned byte = 0; byte < 256; ++byte) bytes_[byte] = find(fmt::format("<0x{:02X}>", byte));
  return index_merges();
}

Status Tokenizer::index_merges() {
  if (!rules_.merges) return success();
  float rank = 0;
  for (const auto& [left, right] : *rules_.merges) {
    const Token first = find(left), second = find(right), joined = find(left + right);
    if (first == no_token || second == no_token || joined == no_token)
      return Error{fmt::format("the pair '{}' '{}' to join, or what it gives, is not in the vocabulary", left, right)};
    merges_.emplace(key_of(first, second), Merge{rank, joined});
    ++rank;
  }
  rules_.merges->clear();
  rules_.merges->shrink_to_fit();
  return success();
}

bool Tokenizer::is_end(Token token) const {
  return std::find(rules_.ends.begin(), rules_.ends.end(), token) != rules_.ends.end();
}

Token Tokenizer::find(std::string_view spelling) const {
  const auto found = by_spelling_.find(std::string(spelling));
  return found == by_spelling_.end() ? no_token : found->second;
}

Result<std::vector<Token>> Tokenizer::encode(std::string_view text) const {
  std::vector<Token> tokens;
  if (rules_.beginning != no_token) tokens.push_back(rules_.beginning);
  size_t begin = 0;  // of what is in no token yet
  const auto special_at = [&](size_t at) -> Token {
    for (const Token token : special_[static_cast<uint8_t>(text[at])])
      if (text.substr(at).starts_with(rules_.vocabulary[token].spelling)) return token;
    return no_token;
  };
  for (size_t at = 0; at < text.size();) {
    const Token token = special_at(at);
    if (token == no_token) {
      ++at;
      continue;
    }
    const VocabularyEntry& entry = rules_.vocabulary[token];
    size_t end = at;
    while (entry.takes_space_before && end > begin && is_space(text[end - 1])) --end;
    if (const Status part = encode_part(text.substr(begin, end - begin), begin == 0, tokens); !part)
      return Error{part.error()};
    tokens.push_back(token);
    at += entry.spelling.size();
    while (entry.takes_space_after && at < text.size() && is_space(text[at])) ++at;
    begin = at;
  }
  if (const Status part = encode_part(text.substr(begin), begin == 0, tokens); !part) return Error{part.error()};
  return tokens;
}

Status Tokenizer::encode_part(std::string_view text, bool is_first, std::vector<Token>& tokens) const {
  if (text.empty()) return success();
  const bool has_prefix = (rules_.prefix == SpacePrefix::every || (rules_.prefix == SpacePrefix::first && is_first)) &&
                          !(rules_.prefix_only_where_missing && text[0] == ' ');
  std::string marked = has_prefix ? " " : "";
  marked += text;
  if (!rules_.space_mark.empty()) marked = replace_spaces(marked, rules_.space_mark);
  const auto words = rules_.splitter.split(marked);
  if (!words) return Error{words.error()};
  for (const std::string_view word : *words) {
    const Status encoded = encode_word(rules_.is_byte_level ? letters_of_bytes(word) : word, tokens);
    if (!encoded) return encoded;
  }
  return success();
}

Status Tokenizer::encode_word(std::string_view word, std::vector<Token>& tokens) const {
  if (rules_.prefers_whole_words)
    if (const Token whole = find(word); whole != no_token) {
      tokens.push_back(whole);
      return success();
    }

  std::vector<Symbol<Token>> symbols;
  for (size_t at = 0; at < word.size(); at += symbols.back().length) {
    const size_t length = utf8_length(word, at);
    symbols.push_back({at, length, find(word.substr(at, length))});
  }
  using Joining = std::optional<Joined<Token>>;
  const auto by_score = [&](const Symbol<Token>& left, const Symbol<Token>& right) -> Joining {
    const Token token = find(word.substr(left.begin, left.length + right.length));
    if (token == no_token) return std::nullopt;
    return Joined<Token>{-rules_.vocabulary[token].score, token};
  };
  const auto by_merges = [&](const Symbol<Token>& left, const Symbol<Token>& right) -> Joining {
    const auto found = merges_.find(key_of(left.meaning, right.meaning));
    if (found == merges_.end()) return std::nullopt;
    return Joined<Token>{found->second.rank, found->second.token};
  };
  symbols = rules_.merges ? join_symbols(std::move(symbols), by_merges) : join_symbols(std::move(symbols), by_score);

  for (const auto& [begin, length, token] : symbols) {
    if (token != no_token) {
      tokens.push_back(token);
      continue;
    }
    if (const Status encoded = encode_unknown(word.substr(begin, length), tokens); !encoded) return encoded;
  }
  return success();
}

Status Tokenizer::encode_unknown(std::string_view character, std::vector<Token>& tokens) const {
  const auto byte_token = [&](char byte) { return bytes_[static_cast<uint8_t>(byte)]; };
  if (std::all_of(character.begin(), character.end(), [&](char byte) { return byte_token(byte) != no_token; })) {
    for (const char byte : character) tokens.push_back(byte_token(byte));
    return success();
  }
  if (rules_.unknown == no_token) return Error{fmt::format("the model's vocabulary has no token for '{}'", character)};
  if (!rules_.fuses_unknown || tokens.empty() || tokens.back() != rules_.unknown) tokens.push_back(rules_.unknown);
  return success();
}

std::string Tokenizer::decode(Token token, Token previous) const {
  if (token < 0 || static_cast<size_t>(token) >= size()) return "";
  const std::string& text = rules_.vocabulary[token].text;
  const bool is_first = previous == no_token || previous == rules_.beginning;
  return is_first && rules_.prefix != SpacePrefix::none && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace metalloid::formats
