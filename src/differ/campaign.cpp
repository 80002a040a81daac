#include "differ/campaign.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "differ/child.hpp"
#include "differ/reduce.hpp"
#include "differ/setting.hpp"

namespace metalloid::differ {

namespace {

constexpr uint64_t kernels_per_child = 16;
constexpr unsigned seconds_per_kernel = 60;

// How a program failed, as far as a smaller one should fail in the same way.
struct Failure {
  enum Kind : uint8_t { invalid, dies, has_no_pipeline, differs } kind = invalid;
  std::string what;
  Engine engine;
};

uint64_t number_in(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What follows the word and a space, if the line begins with it.
std::optional<std::string_view> after(std::string_view word, std::string_view line) {
  if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ') return {};
  return line.substr(word.size() + 1);
}

Failure failure_of(const Difference& difference) {
  return {difference.launch.empty() ? Failure::has_no_pipeline : Failure::differs, to_text(difference),
          difference.engine};
}

// Runs kernels up to the first failure. Gives how many were right, and the failure.
struct Progress {
  uint64_t right = 0;
  std::optional<Failure> failure;
};

Progress run_some(const Campaign& campaign, uint64_t first, uint64_t count) {
  Progress progress;
  const auto work = [&](ChildReport& report) {
    for (uint64_t seed = first; seed < first + count; ++seed) {
      ChildReport::expect_a_line_within(seconds_per_kernel);
      report.line(fmt::format("kernel {}", seed));
      const KernelCase kernel = case_of(random_program(seed));
      const auto found = differences(kernel, campaign.engines, campaign.disguise);
      if (!found) return report.line("invalid " + found.error());
      if (!found->empty()) {
        const Failure failure = failure_of(found->front());
        return report.line(fmt::format("{} {} {} {}", failure.kind == Failure::differs ? "differs" : "no-pipeline",
                                       failure.engine.name, failure.engine.width, failure.what));
      }
      report.line("right -");
    }
  };
  const auto read_failure = [&](Failure::Kind kind, std::string_view text) {
    const size_t name = text.find(' '), width = text.find(' ', name + 1);
    progress.failure =
        Failure{kind,
                std::string(text.substr(width + 1)),
                {std::string(text.substr(0, name)), static_cast<unsigned>(number_in(text.substr(name + 1)))}};
  };
  const std::string death = run_in_child(work, [&](std::string_view line) {
    if (const auto seed = after("kernel", line); seed && campaign.at_kernel) campaign.at_kernel(number_in(*seed));
    if (after("right", line)) ++progress.right;
    if (const auto text = after("invalid", line))
      progress.failure = Failure{Failure::invalid, "the reference engine does not run it: " + std::string(*text), {}};
    if (const auto text = after("differs", line)) read_failure(Failure::differs, *text);
    if (const auto text = after("no-pipeline", line)) read_failure(Failure::has_no_pipeline, *text);
  });
  if (!death.empty() && !progress.failure) progress.failure = Failure{Failure::dies, "the process dies: " + death, {}};
  return progress;
}

// The first of these programs that fails as `failure` did, found in as many child processes as it takes.
std::optional<size_t> first_failing(const Campaign& campaign, const Failure& failure,
                                    const std::vector<Program>& programs) {
  const std::vector<Engine> engines =
      failure.kind == Failure::dies ? campaign.engines : std::vector<Engine>{failure.engine};
  for (size_t begin = 0; begin < programs.size();) {
    size_t tried = begin;
    std::optional<size_t> found;
    const auto work = [&](ChildReport& report) {
      for (size_t i = begin; i < programs.size(); ++i) {
        ChildReport::expect_a_line_within(seconds_per_kernel);
        report.line(fmt::format("try {}", i));
        const KernelCase kernel = case_of(programs[i]);
        const auto differing = differences(kernel, engines, campaign.disguise);
        if (differing && !differing->empty() && failure_of(differing->front()).kind == failure.kind)
          return report.line(fmt::format("found {}", i));
      }
    };
    const std::string death = run_in_child(work, [&](std::string_view line) {
      if (const auto number = after("try", line)) tried = number_in(*number);
      if (const auto number = after("found", line)) found = number_in(*number);
    });
    if (found) return found;
    if (death.empty()) return {};
    if (failure.kind == Failure::dies) return tried;
    begin = tried + 1;
  }
  return {};
}

}  // namespace

Status Campaign::check_devices() const {
  std::string problem;
  const auto work = [&](ChildReport& report) {
    for (const Engine& engine : engines)
      if (const auto present = check_presence(engine); !present) return report.line(present.error());
  };
  const std::string death = run_in_child(work, [&](std::string_view line) { problem = line; });
  if (!death.empty()) return Error{"setting up the devices dies: " + death};
  if (!problem.empty()) return Error{problem};
  return success();
}

std::vector<Finding> Campaign::run() const {
  const Setting no_cache("METALLOID_CACHE_DIR", "");  // nothing of this is worth keeping
  const Setting timeout("METALLOID_TIMEOUT", "20");
  // What the compiler prepares for its first source, children find prepared.
  if (const auto warm = compile_source("kernel void f() {}"); !warm) return {{first_seed, warm.error(), {}}};
  const auto deadline = std::chrono::steady_clock::now() + time;
  std::vector<Finding> findings;
  uint64_t seed = first_seed;
  while (seed < first_seed + count && findings.size() < most_findings && std::chrono::steady_clock::now() < deadline) {
    const Progress progress = run_some(*this, seed, std::min(kernels_per_child, first_seed + count - seed));
    seed += progress.right;
    if (!progress.failure) continue;
    const Failure& failure = *progress.failure;
    Finding finding{seed, failure.what, random_program(seed)};
    if (at_failure) at_failure(finding);
    if (failure.kind != Failure::invalid)
      finding.program = reduced(
          std::move(finding.program),
          [&](const std::vector<Program>& programs) { return first_failing(*this, failure, programs); }, patience);
    if (at_finding) at_finding(finding);
    findings.push_back(std::move(finding));
    ++seed;
  }
  return findings;
}

}  // namespace metalloid::differ
