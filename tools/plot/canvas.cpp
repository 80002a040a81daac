#include "canvas.hpp"

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <numbers>
#include <stdexcept>

namespace metalloid::plot {

namespace {

constexpr double png_scale = 2;  // sharp on dense screens

cairo_status_t append(void* text, const unsigned char* bytes, unsigned size) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(bytes), size);
  return CAIRO_STATUS_SUCCESS;
}

cairo_surface_t* new_surface(double width, double height, ImageFormat format, std::string& bytes) {
  if (format == ImageFormat::svg) return cairo_svg_surface_create_for_stream(append, &bytes, width, height);
  cairo_surface_t* surface =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(width * png_scale)),
                                 static_cast<int>(std::ceil(height * png_scale)));
  cairo_surface_set_device_scale(surface, png_scale, png_scale);
  return surface;
}

}  // namespace

Colour series_colour(size_t series) {
  constexpr Colour colours[] = {{0.16, 0.38, 0.75}, {0.90, 0.55, 0.15}, {0.35, 0.62, 0.42}, {0.60, 0.40, 0.65}};
  return colours[series % std::size(colours)];
}

Canvas::Canvas(double width, double height, ImageFormat format)
    : format_(format),
      surface_(new_surface(width, height, format, bytes_), cairo_surface_destroy),
      cairo_(cairo_create(surface_.get()), cairo_destroy) {
  rectangle(0, 0, width, height, white);
}

std::string Canvas::finish() {
  if (format_ == ImageFormat::png) cairo_surface_write_to_png_stream(surface_.get(), append, &bytes_);
  cairo_surface_finish(surface_.get());
  if (const cairo_status_t status = cairo_surface_status(surface_.get());
      status != CAIRO_STATUS_SUCCESS && status != CAIRO_STATUS_SURFACE_FINISHED)
    throw std::runtime_error(fmt::format("the chart cannot be drawn: {}", cairo_status_to_string(status)));
  return std::move(bytes_);
}

void Canvas::header(const std::string& title, const std::string& subtitle) {
  text(title, margin, margin + 16, 19, ink, Align::left, true);
  text(subtitle, margin, margin + 38, 12, faint);
}

void Canvas::legend(std::span<const std::string> series, double x, double y) {
  for (size_t i = 0; i < series.size(); ++i) {
    rectangle(x, y, 14, 10, series_colour(i));
    x += 20 + text(series[i], x + 20, y + 9, 12, ink) + 26;
  }
}

double Canvas::text(const std::string& words, double x, double y, double size, Colour colour, Align align, bool bold) {
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

void Canvas::text_upwards(const std::string& words, double x, double y, double size, Colour colour) {
  cairo_save(cairo_.get());
  cairo_translate(cairo_.get(), x, y);
  cairo_rotate(cairo_.get(), -std::numbers::pi / 2);
  text(words, 0, 0, size, colour, Align::centre);
  cairo_restore(cairo_.get());
}

void Canvas::line(std::span<const Point> points, Colour colour, double width) {
  if (points.empty()) return;
  set(colour);
  cairo_set_line_width(cairo_.get(), width);
  cairo_set_line_join(cairo_.get(), CAIRO_LINE_JOIN_ROUND);
  cairo_move_to(cairo_.get(), points[0].x, points[0].y);
  for (const Point& point : points.subspan(1)) cairo_line_to(cairo_.get(), point.x, point.y);
  cairo_stroke(cairo_.get());
}

void Canvas::line(Point from, Point to, Colour colour, double width) {
  const Point points[] = {from, to};
  line(points, colour, width);
}

void Canvas::dot(Point centre, double radius, Colour colour) {
  set(colour);
  cairo_new_path(cairo_.get());
  cairo_arc(cairo_.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(cairo_.get());
}

void Canvas::rectangle(double x, double y, double width, double height, Colour colour) {
  set(colour);
  cairo_rectangle(cairo_.get(), x, y, width, height);
  cairo_fill(cairo_.get());
}

void Canvas::grey_image(std::span<const uint8_t> pixels, size_t columns, double x, double y, double pixel_size) {
  const size_t rows = pixels.size() / columns;
  std::vector<uint32_t> colours(pixels.size());
  for (size_t i = 0; i < pixels.size(); ++i) colours[i] = pixels[i] * 0x010101u;
  const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> image(
      cairo_image_surface_create_for_data(reinterpret_cast<unsigned char*>(colours.data()), CAIRO_FORMAT_RGB24,
                                          static_cast<int>(columns), static_cast<int>(rows),
                                          static_cast<int>(columns * sizeof(uint32_t))),
      cairo_surface_destroy);
  cairo_save(cairo_.get());
  cairo_translate(cairo_.get(), x, y);
  cairo_scale(cairo_.get(), pixel_size, pixel_size);
  cairo_set_source_surface(cairo_.get(), image.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo_.get()), CAIRO_FILTER_NEAREST);
  cairo_rectangle(cairo_.get(), 0, 0, static_cast<double>(columns), static_cast<double>(rows));
  cairo_fill(cairo_.get());
  cairo_restore(cairo_.get());
}

void Canvas::set(Colour colour) {
  cairo_set_source_rgb(cairo_.get(), colour.red, colour.green, colour.blue);
}

}  // namespace metalloid::plot
