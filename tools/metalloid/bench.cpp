#include "bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace metalloid::tool {

void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure how long things take");
  bench->require_subcommand(1);
  bench->fallthrough();
  bench->add_option_function<std::string>(
      "--device", [](const std::string& name) { setenv("METALLOID_DEVICE", name.c_str(), 1); },
      "The device to measure: a part of its name, as `metalloid devices` shows it");
  add_bench_compile(*bench);
  add_bench_pipelines(*bench);
  add_bench_launch(*bench);
  add_bench_kernels(*bench);
  add_bench_nvidia(*bench);
  add_bench_mps(*bench);
  add_bench_conv2d(*bench);
  add_bench_micro(*bench);
  add_bench_train(*bench);
  add_bench_llm(*bench);
}

void show_figures(const std::vector<Figure>& figures, bool as_json) {
  if (as_json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Figure& figure : figures) {
      nlohmann::json row = {{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
      if (figure.target > 0) row["target"] = figure.target;
      rows.push_back(row);
    }
    fmt::print("{}\n", rows.dump(2));
    return;
  }
  fmt::print("{:<52} {:>9}      {}\n", "", "measured", "at most");
  for (const Figure& figure : figures) {
    const std::string target = figure.target > 0 ? fmt::format("{:>6.3g} {}", figure.target, figure.unit) : "";
    fmt::print("{:<52} {:>9.1f} {:<4} {}\n", figure.name, figure.value, figure.unit, target);
  }
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double median_ratio(const std::vector<double>& times, const std::vector<double>& others) {
  std::vector<double> ratios;
  for (size_t turn = 0; turn < times.size(); ++turn) ratios.push_back(times[turn] / others[turn]);
  return median(std::move(ratios));
}

void require(bool condition, const std::string& what) {
  if (!condition) throw Failure{exit_source_error, "the benchmark's result is wrong: " + what};
}

}  // namespace metalloid::tool
