// llama2.c's tokenizer file: the longest token's length, then of each token a score, a length and its bytes. Spaces are
// spaces already; tokens 1 and 2 begin and end a text, and a model that begins another has ended the one before.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "formats/marked_text.hpp"
#include "formats/tokenizer.hpp"
#include "library/file.hpp"

namespace metalloid::formats {

Result<Tokenizer> read_llama2c_tokenizer(const std::string& path, size_t size) {
  const auto error = [&](const std::string& what) { return Error{fmt::format("cannot read '{}': {}", path, what)}; };
  const Result<SharedBytes> mapped = map_file(path);
  if (!mapped) return Error{mapped.error()};
  constexpr Token beginning = 1, end = 2;
  if (size <= end) return error(fmt::format("a tokenizer of {} tokens has none that end a text", size));

  ByteReader reader(mapped->bytes);
  const uint32_t longest = reader.fixed32();
  TokenizerRules rules;
  while (rules.vocabulary.size() < size) {
    const float score = std::bit_cast<float>(reader.fixed32());
    const uint32_t length = reader.fixed32();
    const std::string_view spelling = reader.text(length);
    const auto token = static_cast<Token>(rules.vocabulary.size());
    if (reader.failed())
      return error(
          fmt::format("it has {} whole tokens, but the model has {}: it is another model's, or was cut", token, size));
    if (length > longest || std::isnan(score))
      return error(fmt::format("it is damaged: token {} has {} bytes and the score {}", token, length, score));
    const bool is_control = token == beginning || token == end;
    rules.vocabulary.push_back(
        {std::string(spelling), is_control ? "" : text_of_marked(spelling), score, false, false, false});
  }
  if (!reader.at_end())
    return error(fmt::format("it has more than the model's {} tokens: it is another model's", size));
  rules.beginning = beginning;
  rules.ends = {beginning, end};
  rules.unknown = 0;
  rules.prefix = SpacePrefix::every;
  return Tokenizer::make(std::move(rules));
}

}  // namespace metalloid::formats
