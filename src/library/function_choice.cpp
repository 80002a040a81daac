#include "library/function_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace metalloid {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])}));
  }
  return row.back();
}

// The name most like the one asked for, if it is like enough to have been meant.
std::string_view nearest(const std::vector<std::string_view>& names, std::string_view asked) {
  constexpr size_t longest_compared = 256;
  std::string_view best;
  size_t least = asked.size() / 3 + 1;
  for (std::string_view name : names) {
    const size_t length_difference = std::max(name.size(), asked.size()) - std::min(name.size(), asked.size());
    if (length_difference >= least || name.size() > longest_compared) continue;
    if (const size_t distance = edit_distance(name, asked); distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace

Result<std::vector<std::string_view>> chosen_functions(const Library& library, const DescribeOptions& options) {
  const std::vector<std::string_view>& names = library.function_names();
  if (!options.function) return names;
  if (const Function* function = library.find(*options.function)) return std::vector<std::string_view>{function->name};
  const std::string_view meant = nearest(names, *options.function);
  return Error{fmt::format("the library has no function named '{}'{}", *options.function,
                           meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant))};
}

}  // namespace metalloid
