#include "curves.hpp"

#include <algorithm>

namespace metalloid::train_rnn {

std::string draw_curves(const training::LearningCurve& curve, const Description& description,
                        const std::string& subtitle) {
  plot::LineChart::Panel panel;
  panel.title = description.measure;
  panel.logarithmic = description.is_logarithmic;
  double end = 0;
  for (const char* name : {training_series, held_out_series}) {
    plot::LineChart::Series& series = panel.series.emplace_back();
    series = {name, curve.points(name), name == held_out_series};
    if (series.points.empty()) continue;
    if (series.marks) series.last = series.points.back().y;
    end = std::max(end, series.points.back().x);
  }
  for (const auto& [name, value] : description.references)
    panel.series.push_back({name, {{0, value}, {end, value}}, false, value});
  return draw({.title = description.title, .subtitle = subtitle, .axis = "epochs", .panels = {panel}},
              plot::ImageFormat::png);
}

}  // namespace metalloid::train_rnn
