#include "learning_curve.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace metalloid::training {

void LearningCurve::add(const std::string& series, double epoch, double value) {
  auto found = std::ranges::find(series_, series, &Series::name);
  if (found == series_.end()) found = series_.insert(found, {series, {}});
  found->points.push_back({epoch, value});
}

const std::vector<plot::Point>& LearningCurve::points(const std::string& series) const {
  static const std::vector<plot::Point> none;
  const auto found = std::ranges::find(series_, series, &Series::name);
  return found == series_.end() ? none : found->points;
}

void to_json(nlohmann::json& json, const LearningCurve& curve) {
  json = nlohmann::json::object();
  for (const auto& series : curve.series_) {
    nlohmann::json& points = json[series.name] = nlohmann::json::array();
    for (const plot::Point& point : series.points) points.push_back({point.x, point.y});
  }
}

void from_json(const nlohmann::json& json, LearningCurve& curve) {
  curve.series_.clear();
  for (const auto& [name, points] : json.items())
    for (const auto& point : points) curve.add(name, point.at(0), point.at(1));
}

}  // namespace metalloid::training
