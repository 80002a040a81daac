// Horizontal grouped bars on a logarithmic scale, as SVG or PNG: the same drawing, on two surfaces of Cairo.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "canvas.hpp"

namespace metalloid::plot {

struct BarChart {
  std::string title, subtitle;
  std::string axis;                 // what the bars' length means
  std::vector<std::string> series;  // the legend, at most four
  struct Group {
    std::string label, detail;
    std::vector<std::optional<double>> values;  // one for each series, positive; none: a dash
  };
  std::vector<Group> groups;
  double baseline = 1;  // where bars begin: to the right those that are larger, to the left those that are smaller
};

// The file's bytes. Throws std::runtime_error if they cannot be made.
std::string draw(const BarChart& chart, ImageFormat format);

}  // namespace metalloid::plot
