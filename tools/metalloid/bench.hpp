// metalloid bench: how long things take. Each figure is a median over fresh input, taken after checking that the result
// is right, and stands beside what it is compared with: a figure we hold ourselves to, or a peer's in the same run.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "program.hpp"

namespace metalloid::tool {

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  double target = 0;  // 0: there is none
};

// As a table, or as JSON.
void show_figures(const std::vector<Figure>& figures, bool as_json);

double milliseconds_since(std::chrono::steady_clock::time_point start);
double median(std::vector<double> values);
// Of times that were taken in turns to others: medians of ratios of neighbours, since a machine has better and worse
// moments.
double median_ratio(const std::vector<double>& times, const std::vector<double>& others);

// A benchmark that computes nonsense ends here.
void require(bool condition, const std::string& what);

void add_bench_compile(CLI::App& bench);
void add_bench_pipelines(CLI::App& bench);
void add_bench_launch(CLI::App& bench);
void add_bench_kernels(CLI::App& bench);
void add_bench_nvidia(CLI::App& bench);
void add_bench_mps(CLI::App& bench);
void add_bench_conv2d(CLI::App& bench);
void add_bench_micro(CLI::App& bench);
void add_bench_train(CLI::App& bench);
void add_bench_llm(CLI::App& bench);

}  // namespace metalloid::tool
