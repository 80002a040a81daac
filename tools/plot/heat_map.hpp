// A matrix of counts as coloured squares with their numbers, as SVG or PNG: a confusion matrix. The diagonal, which is
// what should be, has a colour of its own, so that the little beside it can be seen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "canvas.hpp"

namespace metalloid::plot {

struct HeatMap {
  std::string title, subtitle;
  std::string row_axis, column_axis;
  std::vector<std::string> labels;          // of rows and of columns
  std::vector<std::vector<size_t>> counts;  // [row][column]
};

std::string draw(const HeatMap& map, ImageFormat format);

}  // namespace metalloid::plot
