// What charts are drawn on: a surface of Cairo that becomes an SVG or a PNG file, and the few marks that charts are
// made of. Lengths are in points; a PNG has two pixels for each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;

namespace metalloid::plot {

enum class ImageFormat { svg, png };

struct Colour {
  double red, green, blue;
};
inline constexpr Colour white{1, 1, 1}, ink{0.13, 0.15, 0.18}, faint{0.45, 0.48, 0.52}, grid{0.88, 0.89, 0.91};

// For the series of a chart, in turn.
Colour series_colour(size_t series);

enum class Align { left, right, centre };

struct Point {
  double x, y;
};

inline constexpr double margin = 24;

class Canvas {
 public:
  Canvas(double width, double height, ImageFormat format);

  // The file's bytes; nothing can be drawn after that. Throws std::runtime_error if they cannot be made.
  std::string finish();

  void header(const std::string& title, const std::string& subtitle);
  // Squares of the series' colours and their names, from x on.
  void legend(std::span<const std::string> series, double x, double y);
  // Returns how wide it is.
  double text(const std::string& words, double x, double y, double size, Colour colour, Align align = Align::left,
              bool bold = false);
  // Upwards, centred at (x, y).
  void text_upwards(const std::string& words, double x, double y, double size, Colour colour);
  void line(std::span<const Point> points, Colour colour, double width);
  void line(Point from, Point to, Colour colour, double width);
  void dot(Point centre, double radius, Colour colour);
  void rectangle(double x, double y, double width, double height, Colour colour);
  // Pixels of 0 (black) to 255 (white), row by row, each a square of that size.
  void grey_image(std::span<const uint8_t> pixels, size_t columns, double x, double y, double pixel_size);

 private:
  void set(Colour colour);

  std::string bytes_;
  const ImageFormat format_;
  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface_;
  std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo_;
};

}  // namespace metalloid::plot
