#include "llama/lora_targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

namespace metalloid::llama {

Result<std::vector<size_t>> targets_in(const std::string& words) {
  std::set<size_t> chosen;
  std::istringstream list(words);
  for (std::string word; std::getline(list, word, ',');) {
    const auto found = std::find_if(lora_targets.begin(), lora_targets.end(),
                                    [&](const LoraTarget& target) { return word == target.word; });
    if (word == "all")
      for (size_t i = 0; i < lora_targets.size(); ++i) chosen.insert(i);
    else if (found != lora_targets.end())
      chosen.insert(size_t(found - lora_targets.begin()));
    else
      return Error{fmt::format("'{}' is no target for adapters; they are q, k, v, o, gate, up, down, or all", word)};
  }
  if (chosen.empty()) return Error{"there are no targets for adapters; q,v is common, and all learns most"};
  return std::vector<size_t>(chosen.begin(), chosen.end());
}

static constexpr std::string_view prefix = "base_model.model.model.layers.";

std::string lora_tensor_name(size_t layer, size_t target, char matrix) {
  return fmt::format("{}{}.{}.lora_{}.weight", prefix, layer, lora_targets[target].name, matrix);
}

std::optional<LoraTensorPlace> lora_tensor_place(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  size_t layer = 0;
  const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), layer);
  if (error != std::errc()) return std::nullopt;
  for (size_t target = 0; target < lora_targets.size(); ++target)
    for (const char matrix : {'A', 'B'})
      if (name == lora_tensor_name(layer, target, matrix)) return LoraTensorPlace{layer, target, matrix};
  return std::nullopt;
}

std::vector<float> reorder_rows(const std::vector<float>& rows, size_t columns, size_t target,
                                const LlamaConfig& config, RowOrder wanted) {
  const auto heads = lora_targets[target].turned_heads;
  if (!heads || config.rope_pairs == RopePairs::Halves) return rows;
  std::vector<float> result = rows;
  const size_t pairs = config.rope_frequencies.size();
  for (size_t head = 0; head < config.*heads; ++head)
    for (size_t i = 0; i < 2 * pairs; ++i) {
      const size_t first = head * config.head_size;
      const size_t in_file = first + i, in_model = first + (i < pairs ? 2 * i : 2 * (i - pairs) + 1);
      const size_t from = wanted == RowOrder::of_file ? in_model : in_file,
                   to = wanted == RowOrder::of_file ? in_file : in_model;
      std::copy_n(rows.begin() + ptrdiff_t(from * columns), columns, result.begin() + ptrdiff_t(to * columns));
    }
  return result;
}

}  // namespace metalloid::llama
