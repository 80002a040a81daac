#include "bar_chart.hpp"

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

namespace metalloid::plot {

namespace {

struct Colour {
  double red, green, blue;
};
constexpr Colour ink{0.13, 0.15, 0.18}, faint{0.45, 0.48, 0.52}, grid{0.88, 0.89, 0.91};
constexpr Colour series_colours[] = {{0.16, 0.38, 0.75}, {0.90, 0.55, 0.15}, {0.35, 0.62, 0.42}, {0.60, 0.40, 0.65}};

constexpr double margin = 24, label_width = 230, bars_width = 620, right_margin = 16, bar_height = 10, bar_gap = 2,
                 group_gap = 12, header_height = 104, axis_height = 44;

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
  Drawing(cairo_surface_t* surface, const BarChart& chart)
      : chart_(chart), layout_(chart), cairo_(cairo_create(surface), cairo_destroy) {}

  void draw() {
    fill_rectangle(0, 0, layout_.width, layout_.height, {1, 1, 1});
    draw_header();
    draw_axis();
    for (size_t i = 0; i < chart_.groups.size(); ++i)
      draw_group(chart_.groups[i], layout_.top + group_gap / 2 + layout_.group_height * static_cast<double>(i));
    draw_line(layout_.x(chart_.baseline), ink, 1.2);
  }

 private:
  enum class Align { left, right, centre };

  void draw_header() {
    text(chart_.title, margin, margin + 16, 19, ink, Align::left, true);
    text(chart_.subtitle, margin, margin + 38, 12, faint);
    double x = layout_.left;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      fill_rectangle(x, margin + 58, 14, 10, series_colours[i % std::size(series_colours)]);
      x += 20 + text(chart_.series[i], x + 20, margin + 67, 12, ink) + 26;
    }
  }

  void draw_axis() {
    const bool has_room = layout_.last - layout_.first < 4;
    for (int power = static_cast<int>(std::floor(layout_.first)); power <= layout_.last; ++power)
      for (const double digit : {1, 2, 5}) {
        const double value = digit * std::pow(10, power);
        if (std::log10(value) < layout_.first || std::log10(value) > layout_.last) continue;
        if (digit > 1 && !has_room) continue;
        const double x = layout_.x(value);
        draw_line(x, grid, 1);
        text(fmt::format("{:g}", value), x, layout_.top - 8, 11, faint, Align::centre);
        text(fmt::format("{:g}", value), x, layout_.top + layout_.bars_height + 16, 11, faint, Align::centre);
      }
    text(chart_.axis, layout_.left + bars_width / 2, layout_.top + layout_.bars_height + 38, 12, ink, Align::centre);
  }

  void draw_group(const BarChart::Group& group, double y) {
    const double middle = y + (layout_.group_height - group_gap) / 2;
    const double label_end = layout_.left - 12;
    text(group.label, label_end, middle - 1, 12.5, ink, Align::right);
    text(group.detail, label_end, middle + 12, 10, faint, Align::right);
    for (size_t i = 0; i < group.values.size(); ++i, y += bar_height + bar_gap) {
      const double start = layout_.x(chart_.baseline);
      if (!group.values[i]) {
        text("–", start + 4, y + bar_height - 1, 10, faint);
        continue;
      }
      const double end = layout_.x(*group.values[i]);
      const bool grows = *group.values[i] >= chart_.baseline;
      fill_rectangle(std::min(start, end), y, std::abs(end - start), bar_height,
                     series_colours[i % std::size(series_colours)]);
      text(fmt::format("{:.3g}", *group.values[i]), grows ? end + 4 : end - 4, y + bar_height - 1, 10, faint,
           grows ? Align::left : Align::right);
    }
  }

  void draw_line(double x, Colour colour, double line_width) {
    set(colour);
    cairo_set_line_width(cairo_.get(), line_width);
    cairo_move_to(cairo_.get(), x, layout_.top);
    cairo_line_to(cairo_.get(), x, layout_.top + layout_.bars_height);
    cairo_stroke(cairo_.get());
  }

  void fill_rectangle(double x, double y, double width, double height, Colour colour) {
    set(colour);
    cairo_rectangle(cairo_.get(), x, y, width, height);
    cairo_fill(cairo_.get());
  }

  // Returns how wide it is.
  double text(const std::string& words, double x, double y, double size, Colour colour, Align align = Align::left,
              bool bold = false) {
    cairo_select_font_face(cairo_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo_.get(), size);
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_.get(), words.c_str(), &extents);
    const double shift = align == Align::left ? 0 : align == Align::right ? extents.x_advance : extents.x_advance / 2;
    set(colour);
    cairo_move_to(cairo_.get(), x - shift, y);
    cairo_show_text(cairo_.get(), words.c_str());
    return extents.x_advance;
  }

  void set(Colour colour) { cairo_set_source_rgb(cairo_.get(), colour.red, colour.green, colour.blue); }

  const BarChart& chart_;
  Layout layout_;
  std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo_;
};

cairo_status_t append(void* text, const unsigned char* bytes, unsigned size) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(bytes), size);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::string draw(const BarChart& chart, ImageFormat format) {
  const Layout layout(chart);
  constexpr double png_scale = 2;  // sharp on dense screens
  std::string bytes;
  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
      format == ImageFormat::svg
          ? cairo_svg_surface_create_for_stream(append, &bytes, layout.width, layout.height)
          : cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(layout.width * png_scale)),
                                       static_cast<int>(std::ceil(layout.height * png_scale))),
      cairo_surface_destroy);
  if (format == ImageFormat::png) cairo_surface_set_device_scale(surface.get(), png_scale, png_scale);
  Drawing(surface.get(), chart).draw();
  if (format == ImageFormat::png) cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
  cairo_surface_finish(surface.get());
  if (const cairo_status_t status = cairo_surface_status(surface.get());
      status != CAIRO_STATUS_SUCCESS && status != CAIRO_STATUS_SURFACE_FINISHED)
    throw std::runtime_error(fmt::format("the chart cannot be drawn: {}", cairo_status_to_string(status)));
  return bytes;
}

}  // namespace metalloid::plot
