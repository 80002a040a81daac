// The results of `metalloid bench kernels`: as a table, as JSON, as a chart.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "bench_contest.hpp"
#include "plot/bar_chart.hpp"

namespace metalloid::tool {

struct Report {
  Entrants entrants;
  std::vector<ContestResult> contests;
};

void print_entrants(const Entrants& entrants);
void print_table(std::span<const ContestResult> contests);

// Against the machine itself and OpenBLAS, as far as they took part.
void print_limits(std::span<const ContestResult> contests);

nlohmann::json to_json(const Report& report);
plot::BarChart to_chart(const Report& report);

// By the name of the file that a chart goes to.
plot::ImageFormat image_format(const std::string& file);

}  // namespace metalloid::tool
