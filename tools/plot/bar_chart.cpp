#include "bar_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace metalloid::plot {

namespace {

constexpr double label_width = 230, bars_width = 620, right_margin = 16, bar_height = 10, bar_gap = 2, group_gap = 12,
                 header_height = 104, axis_height = 44;

// Where everything is: the header above, labels on the left, bars beside them, the axis below.
struct Layout {
  explicit Layout(const BarChart& chart) {
    double smallest = chart.baseline, largest = chart.baseline;
    for (const auto& group : chart.groups)
      for (const auto& value : group.values)
        if (value) {
          smallest = std::min(smallest, *value);
          largest = std::max(largest, *value);
        }
    // With room for the number at the end of the longest bars.
    const double room = 0.1 + 0.05 * std::log10(largest / smallest);
    first = std::log10(smallest) - room;
    last = std::log10(largest) + room;
    group_height = static_cast<double>(chart.series.size()) * (bar_height + bar_gap) - bar_gap + group_gap;
    bars_height = group_height * static_cast<double>(chart.groups.size());
    width = 2 * margin + label_width + bars_width + right_margin;
    height = 2 * margin + header_height + bars_height + axis_height;
  }

  double x(double value) const { return left + bars_width * (std::log10(value) - first) / (last - first); }

  double left = margin + label_width, top = margin + header_height;
  double first, last;  // powers of ten at the ends of the axis
  double group_height, bars_height, width, height;
};

class Drawing {
 public:
  Drawing(const BarChart& chart, ImageFormat format)
      : chart_(chart), layout_(chart), canvas_(layout_.width, layout_.height, format) {}

  std::string draw() {
    canvas_.header(chart_.title, chart_.subtitle);
    canvas_.legend(chart_.series, layout_.left, margin + 58);
    draw_axis();
    for (size_t i = 0; i < chart_.groups.size(); ++i)
      draw_group(chart_.groups[i], layout_.top + group_gap / 2 + layout_.group_height * static_cast<double>(i));
    draw_line(layout_.x(chart_.baseline), ink, 1.2);
    return canvas_.finish();
  }

 private:
  void draw_axis() {
    const bool has_room = layout_.last - layout_.first < 4;
    for (int power = static_cast<int>(std::floor(layout_.first)); power <= layout_.last; ++power)
      for (const double digit : {1, 2, 5}) {
        const double value = digit * std::pow(10, power);
        if (std::log10(value) < layout_.first || std::log10(value) > layout_.last) continue;
        if (digit > 1 && !has_room) continue;
        const double x = layout_.x(value);
        draw_line(x, grid, 1);
        canvas_.text(fmt::format("{:g}", value), x, layout_.top - 8, 11, faint, Align::centre);
        canvas_.text(fmt::format("{:g}", value), x, layout_.top + layout_.bars_height + 16, 11, faint, Align::centre);
      }
    canvas_.text(chart_.axis, layout_.left + bars_width / 2, layout_.top + layout_.bars_height + 38, 12, ink,
                 Align::centre);
  }

  void draw_group(const BarChart::Group& group, double y) {
    const double middle = y + (layout_.group_height - group_gap) / 2;
    const double label_end = layout_.left - 12;
    canvas_.text(group.label, label_end, middle - 1, 12.5, ink, Align::right);
    canvas_.text(group.detail, label_end, middle + 12, 10, faint, Align::right);
    for (size_t i = 0; i < group.values.size(); ++i, y += bar_height + bar_gap) {
      const double start = layout_.x(chart_.baseline);
      if (!group.values[i]) {
        canvas_.text("–", start + 4, y + bar_height - 1, 10, faint);
        continue;
      }
      const double end = layout_.x(*group.values[i]);
      const bool grows = *group.values[i] >= chart_.baseline;
      canvas_.rectangle(std::min(start, end), y, std::abs(end - start), bar_height, series_colour(i));
      canvas_.text(fmt::format("{:.3g}", *group.values[i]), grows ? end + 4 : end - 4, y + bar_height - 1, 10, faint,
                   grows ? Align::left : Align::right);
    }
  }

  void draw_line(double x, Colour colour, double line_width) {
    canvas_.line({x, layout_.top}, {x, layout_.top + layout_.bars_height}, colour, line_width);
  }

  const BarChart& chart_;
  Layout layout_;
  Canvas canvas_;
};

}  // namespace

std::string draw(const BarChart& chart, ImageFormat format) {
  return Drawing(chart, format).draw();
}

}  // namespace metalloid::plot
