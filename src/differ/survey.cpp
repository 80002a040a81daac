#include "differ/survey.hpp"

#include <fmt/format.h>

#include <optional>

#include "differ/child.hpp"
#include "differ/compare.hpp"
#include "differ/made_up_case.hpp"
#include "differ/setting.hpp"

namespace metalloid::differ {

namespace {

constexpr size_t kernels_per_child = 32;
constexpr unsigned seconds_per_try = 60;

struct Opinion {
  Verdict verdict = Verdict::not_run;
  std::string what;
};

// What shader validation says of the kernel with these arguments, or why it does not come to an end.
Result<std::string> complaint(std::shared_ptr<const Library> library, const KernelCase& kernel) {
  const auto subject = Subject::make({.name = "reference", .validates = true}, std::move(library), kernel);
  if (!subject) return Error{subject.error()};
  const Remains remains = subject->run(kernel, kernel.launches[0], Guard::end);
  if (!remains.fault.empty()) return remains.fault;
  return remains.reports.empty() ? std::string() : remains.reports.front();
}

Opinion opinion_of_try(const std::shared_ptr<const Library>& library, const Function& function, uint64_t seed,
                       const std::vector<Engine>& engines) {
  const auto kernel = made_up_case(*library, function, seed);
  if (!kernel) return {Verdict::not_run, kernel.error()};
  const auto complains = complaint(library, *kernel);
  if (!complains) return {Verdict::not_run, complains.error()};
  if (!complains->empty()) return {Verdict::undefined, *complains};
  const auto found = differences(*kernel, library, engines);
  if (!found) return {Verdict::not_run, found.error()};
  if (!found->empty()) return {Verdict::differs, fmt::format("seed {}, {}", seed, to_text(found->front()))};
  return {Verdict::same, ""};
}

Opinion opinion_of(const Survey& survey, const std::shared_ptr<const Library>& library, const Function& function) {
  unsigned compared = 0;
  Opinion last;
  for (unsigned i = 0; i < survey.tries && compared < survey.enough; ++i) {
    ChildReport::expect_a_line_within(seconds_per_try);
    Opinion opinion = opinion_of_try(library, function, survey.first_seed + i, survey.engines);
    if (opinion.verdict == Verdict::differs) return opinion;
    if (opinion.verdict == Verdict::same) ++compared;
    last = std::move(opinion);
  }
  if (compared > 0) return {Verdict::same, ""};
  return last;
}

}  // namespace

void Survey::run(std::shared_ptr<const Library> library, const std::vector<std::string>& kernels,
                 const Tell& tell) const {
  const Setting timeout("METALLOID_TIMEOUT", std::to_string(seconds));
  for (size_t next = 0; next < kernels.size();) {
    const size_t end = std::min(kernels.size(), next + kernels_per_child);
    const auto work = [&](ChildReport& report) {
      for (size_t i = next; i < end; ++i) {
        const Opinion opinion = opinion_of(*this, library, *library->find(kernels[i]));
        report.line(fmt::format("{}{}", static_cast<int>(opinion.verdict), opinion.what));
      }
    };
    const std::string death = run_in_child(work, [&](std::string_view line) {
      tell(kernels[next++], static_cast<Verdict>(line[0] - '0'), std::string(line.substr(1)));
    });
    if (!death.empty() && next < end) tell(kernels[next++], Verdict::differs, "the process dies: " + death);
  }
}

}  // namespace metalloid::differ
