// metalloid bench kernels: each kernel in Metal on the default device, in OpenCL C on PoCL, as a plain loop with
// OpenMP, on the same cores and data in one go; and what the machine can do at most.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "bench_contest.hpp"
#include "bench_report.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace metalloid::tool {

namespace {

struct KernelsArguments {
  std::vector<std::string> only;
  std::string json_file;
  std::vector<std::string> chart_files;
  bool quick = false;
};

std::vector<WorkloadEntry> choose_workloads(const std::vector<std::string>& only) {
  std::vector<WorkloadEntry> chosen;
  for (const WorkloadEntry& entry : all_workloads())
    if (only.empty() || std::find(only.begin(), only.end(), entry.name) != only.end()) chosen.push_back(entry);
  for (const std::string& name : only)
    if (std::none_of(chosen.begin(), chosen.end(), [&](const WorkloadEntry& entry) { return entry.name == name; })) {
      std::string all;
      for (const WorkloadEntry& entry : all_workloads()) all += fmt::format(" {}", entry.name);
      throw Failure{exit_usage_error, fmt::format("there is no kernel '{}' to measure; there are{}", name, all)};
    }
  return chosen;
}

// Everyone whose result was wrong, or who could not run what was there to run.
std::string list_failures(const std::vector<ContestResult>& contests) {
  constexpr std::string_view who[] = {"Metal", "OpenCL", "OpenMP", "OpenBLAS", "the machine's limit"};
  std::string failures;
  for (const ContestResult& contest : contests)
    for (Contender contender : contenders)
      if (const std::string& failure = contest.of(contender).failure; !failure.empty())
        failures += fmt::format("\n  {}, {}: {}", contest.name, who[static_cast<size_t>(contender)], failure);
  return failures;
}

void bench_kernels(const KernelsArguments& arguments) {
  const std::vector<WorkloadEntry> workloads = choose_workloads(arguments.only);
  for (const std::string& file : arguments.chart_files) image_format(file);

  Report report{find_entrants(), {}};
  if (const Entrant& metal = report.entrants[0]; !metal.runner) throw Failure{exit_file_error, metal.why_not};
  {
    ProgressLine progress("kernels measured", workloads.size());
    for (const WorkloadEntry& entry : workloads) {
      report.contests.push_back(hold_contest(entry.make(arguments.quick), report.entrants, arguments.quick));
      progress.advance();
    }
  }
  print_entrants(report.entrants);
  print_table(report.contests);
  print_limits(report.contests);
  if (!arguments.json_file.empty()) write_output(arguments.json_file, to_json(report).dump(2) + "\n");
  for (const std::string& file : arguments.chart_files)
    write_output(file, plot::draw(to_chart(report), image_format(file)));
  if (const std::string failures = list_failures(report.contests); !failures.empty())
    throw Failure{exit_source_error, "not timed, because the result is wrong or there is none:" + failures};
}

}  // namespace

void add_bench_kernels(CLI::App& bench) {
  auto arguments = std::make_shared<KernelsArguments>();
  CLI::App* command =
      bench.add_subcommand("kernels", "Kernels in Metal, in OpenCL on the same CPU, and as OpenMP loops");
  command->add_option("--only", arguments->only, "Only these kernels, separated by commas")->delimiter(',');
  command->add_option("--json", arguments->json_file, "Write the results to this file");
  command->add_option("--chart", arguments->chart_files, "Draw the results into this .svg or .png file")
      ->allow_extra_args(false);
  command->add_flag("--quick", arguments->quick, "Small sizes, to see that everything works");
  command->footer(
      "Examples:\n"
      "  metalloid bench kernels\n"
      "  metalloid bench kernels --only add,softmax_tree --json results.json\n"
      "  metalloid bench kernels --chart kernels.svg --chart kernels.png\n");
  command->callback([arguments] { bench_kernels(*arguments); });
}

}  // namespace metalloid::tool
