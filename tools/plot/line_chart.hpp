// Curves over a common axis, in panels beside each other that each have a scale of their own, as SVG or PNG.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "canvas.hpp"

namespace metalloid::plot {

struct LineChart {
  std::string title, subtitle;
  std::string axis;  // what x means, for all panels
  struct Series {
    std::string name;
    std::vector<Point> points;        // in the order of x
    bool marks = false;               // a dot at each point
    std::optional<double> last = {};  // what is written beside the last point
  };
  struct Panel {
    std::string title;
    std::vector<Series> series;
    bool logarithmic = false;
  };
  std::vector<Panel> panels;
};

std::string draw(const LineChart& chart, ImageFormat format);

}  // namespace metalloid::plot
