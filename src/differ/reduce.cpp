#include "differ/reduce.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace metalloid::differ {

Program reduced(Program program, const FirstFailing& first_failing, std::chrono::seconds patience) {
  constexpr size_t at_a_time = 16;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::set<std::string> tried;
  while (true) {
    std::vector<Program> candidates = simpler(program);
    std::erase_if(candidates, [&](const Program& candidate) { return tried.contains(source_of(candidate)); });
    bool found = false;
    for (size_t i = 0; i < candidates.size() && !found; i += at_a_time) {
      if (std::chrono::steady_clock::now() > deadline) return program;
      const auto begin = candidates.begin() + static_cast<std::ptrdiff_t>(i);
      const std::vector<Program> some(begin,
                                      begin + static_cast<std::ptrdiff_t>(std::min(at_a_time, candidates.size() - i)));
      const auto failing = first_failing(some);
      for (size_t k = 0; k < failing.value_or(some.size()); ++k) tried.insert(source_of(some[k]));
      if (!failing) continue;
      program = some[*failing];
      found = true;
    }
    if (!found) return program;
  }
}

}  // namespace metalloid::differ
