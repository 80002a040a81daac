// metalloid bench pipelines: what it takes to make a pipeline of every kernel of a library, with nothing in the caches.
// Times are the processor's, so that what else the machine does counts for less. Values of function constants are made
// up; a kernel that makes no pipeline is named, with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "differ/made_up_case.hpp"
#include "library_source.hpp"
#include "metal/devices.hpp"
#include "terminal.hpp"

namespace metalloid::tool {

namespace {

struct PipelinesArguments {
  LibrarySource source;
  std::string only;
  bool constants_are_false = false;
  double over = 1000;
  bool as_json = false;
};

struct Time {
  std::string kernel, engine;
  double milliseconds = 0;
};

struct Times {
  std::vector<Time> made;  // the shortest first
  std::vector<std::pair<std::string, std::string>> failed;
};

double processor_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

Times measure(const std::shared_ptr<const Library>& library, const PipelinesArguments& arguments) {
  const char* device_name = std::getenv("METALLOID_DEVICE");
  const auto device = metal::device_named(device_name ? device_name : "cpu");
  if (!device) throw Failure{exit_file_error, fmt::format("there is no device '{}' on this machine", device_name)};

  const std::vector<std::string> kernels = arguments.source.kernels_with(*library, arguments.only);

  Times times;
  ProgressLine line("pipelines", kernels.size());
  for (const std::string& name : kernels) {
    line.advance();
    auto constants = differ::made_up_constants(*library, name, arguments.constants_are_false ? 1 : 0);
    if (!constants) {
      times.failed.emplace_back(name, constants.error());
      continue;
    }
    device::PipelineRequest request;
    request.kernel = {library, name, std::move(*constants)};
    const double before = processor_milliseconds();
    const auto pipeline = device->compile(request);
    if (pipeline)
      times.made.push_back({name, (*pipeline)->engine, processor_milliseconds() - before});
    else
      times.failed.emplace_back(name, pipeline.error());
  }
  std::ranges::sort(times.made, {}, &Time::milliseconds);
  return times;
}

double at_percent(const std::vector<Time>& times, size_t percent) {
  return times[std::min(times.size() - 1, times.size() * percent / 100)].milliseconds;
}

void print_json(const Times& times) {
  nlohmann::json made = nlohmann::json::array(), failed = nlohmann::json::array();
  for (const Time& time : times.made)
    made.push_back({{"kernel", time.kernel}, {"engine", time.engine}, {"milliseconds", time.milliseconds}});
  for (const auto& [kernel, why] : times.failed) failed.push_back({{"kernel", kernel}, {"why", why}});
  fmt::print("{}\n", nlohmann::json{{"made", made}, {"failed", failed}}.dump(2));
}

void print(const Times& times, double over) {
  for (const auto& [kernel, why] : times.failed) fmt::print("{}: {}\n", kernel, why);
  for (const Time& time : times.made)
    if (time.milliseconds > over) fmt::print("{:8.0f} ms  {}\n", time.milliseconds, time.kernel);
  for (const Time& time : times.made)
    if (time.engine == "reference") fmt::print("{}: one thread at a time, on the reference engine\n", time.kernel);
  if (!times.made.empty())
    fmt::print("{} pipelines: median {:.0f} ms, 95 of 100 {:.0f} ms, 99 of 100 {:.0f} ms, longest {:.0f} ms ({})\n",
               times.made.size(), at_percent(times.made, 50), at_percent(times.made, 95), at_percent(times.made, 99),
               times.made.back().milliseconds, times.made.back().kernel);
  if (!times.failed.empty()) fmt::print("{} kernels have none\n", times.failed.size());
}

void bench_pipelines(const PipelinesArguments& arguments) {
  setenv("METALLOID_CACHE_DIR", "", 1);  // before anybody looks there
  const Times times = measure(arguments.source.load(), arguments);
  if (arguments.as_json)
    print_json(times);
  else
    print(times, arguments.over);
}

}  // namespace

void add_bench_pipelines(CLI::App& bench) {
  auto arguments = std::make_shared<PipelinesArguments>();
  CLI::App* command = bench.add_subcommand("pipelines", "Time to make the pipelines of a library's kernels");
  arguments->source.add_options(*command);
  command->add_option("--only", arguments->only, "Kernels whose names have this in them");
  command->add_flag("--constants-false", arguments->constants_are_false, "Function constants are false, and not true");
  command->add_option("--over", arguments->over, "List pipelines that take more milliseconds")->capture_default_str();
  command->add_flag("--json", arguments->as_json, "As JSON, with the time of each");
  command->footer(
      "Examples:\n"
      "  metalloid bench pipelines default.metallib\n"
      "  metalloid bench pipelines quantized.metal -I mlx --only affine_qmv --over 250\n");
  command->callback([arguments] { bench_pipelines(*arguments); });
}

}  // namespace metalloid::tool
