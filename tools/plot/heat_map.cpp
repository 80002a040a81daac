#include "heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace metalloid::plot {

namespace {

constexpr double header_height = 60, label_space = 56, square = 50, gap = 2, sum_space = 70, axis_height = 30;
constexpr Colour right{0.16, 0.38, 0.75}, wrong{0.85, 0.33, 0.13}, nothing{0.96, 0.965, 0.97};

Colour mixed(Colour colour, double share) {
  const auto mix = [share](double from, double to) { return from + share * (to - from); };
  return {mix(nothing.red, colour.red), mix(nothing.green, colour.green), mix(nothing.blue, colour.blue)};
}

}  // namespace

std::string draw(const HeatMap& map, ImageFormat format) {
  const size_t size = map.labels.size();
  const double extent = static_cast<double>(size) * (square + gap);
  Canvas canvas(2 * margin + label_space + extent + sum_space,
                2 * margin + header_height + extent + axis_height + 16, format);
  canvas.header(map.title, map.subtitle);
  const double left = margin + label_space, top = margin + header_height + 26;
  size_t most_right = 1, most_wrong = 1;
  for (size_t row = 0; row < size; ++row)
    for (size_t column = 0; column < size; ++column) {
      size_t& most = row == column ? most_right : most_wrong;
      most = std::max(most, map.counts[row][column]);
    }
  for (size_t row = 0; row < size; ++row) {
    const double y = top + static_cast<double>(row) * (square + gap);
    size_t sum = 0;
    for (size_t column = 0; column < size; ++column) {
      const size_t count = map.counts[row][column];
      sum += count;
      const double x = left + static_cast<double>(column) * (square + gap);
      const double most = static_cast<double>(row == column ? most_right : most_wrong);
      const double share = std::sqrt(static_cast<double>(count) / most);
      canvas.rectangle(x, y, square, square, mixed(row == column ? right : wrong, 0.85 * share));
      if (count > 0)
        canvas.text(fmt::format("{}", count), x + square / 2, y + square / 2 + 5, 13.5, share > 0.65 ? white : ink,
                    Align::centre);
    }
    canvas.text(map.labels[row], left - 12, y + square / 2 + 5, 14, ink, Align::right, true);
    const double of_row = sum == 0 ? 0 : 100.0 * static_cast<double>(map.counts[row][row]) / static_cast<double>(sum);
    canvas.text(fmt::format("{:.1f}%", of_row), left + extent + 10, y + square / 2 + 5, 12, faint);
    const double across = left + static_cast<double>(row) * (square + gap) + square / 2;
    canvas.text(map.labels[row], across, top - 10, 14, ink, Align::centre, true);
  }
  canvas.text_upwards(map.row_axis, margin + 10, top + extent / 2, 12.5, ink);
  canvas.text(map.column_axis, left + extent / 2, top + extent + 22, 12.5, ink, Align::centre);
  return canvas.finish();
}

}  // namespace metalloid::plot
