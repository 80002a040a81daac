// What was measured while a network learned: points (x in epochs, y) of named series. It travels in checkpoints, is
// written as JSON, and drawn.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "plot/line_chart.hpp"

namespace metalloid::training {

class LearningCurve {
 public:
  void add(const std::string& series, double epoch, double value);
  // The points of a series, none if it has none.
  const std::vector<plot::Point>& points(const std::string& series) const;

  friend void to_json(nlohmann::json& json, const LearningCurve& curve);
  friend void from_json(const nlohmann::json& json, LearningCurve& curve);

 private:
  struct Series {
    std::string name;
    std::vector<plot::Point> points;
  };
  std::vector<Series> series_;
};

}  // namespace metalloid::training
