#include "line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace metalloid::plot {

namespace {

constexpr double header_height = 56, panel_width = 430, panel_height = 290, title_height = 46, axis_height = 48,
                 scale_width = 52, right_space = 44, panel_gap = 26;

// A scale from the least to the greatest of its numbers, with ticks at round ones.
class Scale {
 public:
  Scale(double least, double greatest, bool logarithmic) : logarithmic_(logarithmic) {
    if (!(least <= greatest)) least = logarithmic ? 0.1 : 0, greatest = 1;
    first_ = put(least);
    last_ = put(greatest);
    if (last_ - first_ < 1e-9) first_ -= 0.5, last_ += 0.5;
    if (logarithmic_) {
      const double room = 0.05 * (last_ - first_);
      first_ -= room;
      last_ += room;
      find_logarithmic_ticks();
    } else {
      find_linear_ticks();
    }
  }

  double fraction(double value) const { return (put(value) - first_) / (last_ - first_); }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  double put(double value) const { return logarithmic_ ? std::log10(std::max(value, 1e-12)) : value; }

  void find_linear_ticks() {
    const double rough = (last_ - first_) / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough > 5 * power ? 10 : rough > 2 * power ? 5 : rough > power ? 2 : 1);
    for (double tick = std::ceil(first_ / step - 1e-9) * step; tick <= last_ + 1e-9 * step; tick += step)
      ticks_.push_back(std::abs(tick) < 1e-9 * step ? 0 : tick);
  }

  void find_logarithmic_ticks() {
    const bool has_room = last_ - first_ < 2.5;
    for (int power = static_cast<int>(std::floor(first_)); power <= last_; ++power)
      for (const double digit : {1, 2, 5}) {
        const double tick = digit * std::pow(10, power);
        if (std::log10(tick) >= first_ && std::log10(tick) <= last_ && (digit == 1 || has_room)) ticks_.push_back(tick);
      }
  }

  bool logarithmic_;
  double first_, last_;
  std::vector<double> ticks_;
};

struct Range {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  void take(double value) {
    if (!std::isfinite(value)) return;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
};

void draw_panel(Canvas& canvas, const LineChart& chart, const LineChart::Panel& panel, double x, double y) {
  Range across, upwards;
  for (const auto& series : panel.series)
    for (const Point& point : series.points) {
      across.take(point.x);
      upwards.take(point.y);
    }
  across.take(0);
  const Scale horizontal(across.least, across.greatest, false);
  const Scale vertical(upwards.least, upwards.greatest, panel.logarithmic);
  const double left = x + scale_width, top = y + title_height, bottom = top + panel_height;
  const auto place = [&](const Point& point) {
    return Point{left + panel_width * horizontal.fraction(point.x), bottom - panel_height * vertical.fraction(point.y)};
  };

  canvas.text(panel.title, left, y + 14, 13.5, ink, Align::left, true);
  std::vector<std::string> names;
  for (const auto& series : panel.series) names.push_back(series.name);
  canvas.legend(names, left, y + 24);
  for (const double tick : vertical.ticks()) {
    const double height = bottom - panel_height * vertical.fraction(tick);
    canvas.line({left, height}, {left + panel_width, height}, grid, 1);
    canvas.text(fmt::format("{:g}", tick), left - 8, height + 4, 11, faint, Align::right);
  }
  for (const double tick : horizontal.ticks()) {
    const double across_to = left + panel_width * horizontal.fraction(tick);
    canvas.line({across_to, bottom}, {across_to, bottom + 4}, faint, 1);
    canvas.text(fmt::format("{:g}", tick), across_to, bottom + 17, 11, faint, Align::centre);
  }
  canvas.line({left, bottom}, {left + panel_width, bottom}, faint, 1);
  canvas.text(chart.axis, left + panel_width / 2, bottom + 38, 12, ink, Align::centre);

  for (size_t i = 0; i < panel.series.size(); ++i) {
    const auto& series = panel.series[i];
    std::vector<Point> points;
    for (const Point& point : series.points)
      if (std::isfinite(point.y)) points.push_back(place(point));
    if (points.empty()) continue;
    canvas.line(points, series_colour(i), 1.6);
    if (series.marks)
      for (const Point& point : points) canvas.dot(point, 3.2, series_colour(i));
    if (series.last)
      canvas.text(fmt::format("{:.4g}", *series.last), points.back().x + 7, points.back().y + 4, 11, series_colour(i));
  }
}

}  // namespace

std::string draw(const LineChart& chart, ImageFormat format) {
  const auto panels = static_cast<double>(chart.panels.size());
  const double panel_space = scale_width + panel_width + right_space;
  Canvas canvas(2 * margin + panels * panel_space + (panels - 1) * panel_gap,
                2 * margin + header_height + title_height + panel_height + axis_height, format);
  canvas.header(chart.title, chart.subtitle);
  double x = margin;
  for (const auto& panel : chart.panels) {
    draw_panel(canvas, chart, panel, x, margin + header_height);
    x += panel_space + panel_gap;
  }
  return canvas.finish();
}

}  // namespace metalloid::plot
