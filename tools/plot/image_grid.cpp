#include "image_grid.hpp"

#include <algorithm>

namespace metalloid::plot {

namespace {

constexpr double header_height = 60, tile_width = 84, label_height = 40, gap = 14;

}  // namespace

std::string draw(const ImageGrid& image_grid, ImageFormat format) {
  const size_t columns = std::max<size_t>(1, image_grid.columns);
  const size_t rows = (image_grid.tiles.size() + columns - 1) / columns;
  const double pixel = tile_width / static_cast<double>(image_grid.pixel_columns);
  const size_t pixels = image_grid.tiles.empty() ? 0 : image_grid.tiles.front().pixels.size();
  const double tile_height = pixel * static_cast<double>(pixels / image_grid.pixel_columns);
  const double row_height = tile_height + label_height + gap;
  Canvas canvas(2 * margin + static_cast<double>(columns) * (tile_width + gap) - gap,
                2 * margin + header_height + static_cast<double>(rows) * row_height, format);
  canvas.header(image_grid.title, image_grid.subtitle);
  for (size_t i = 0; i < image_grid.tiles.size(); ++i) {
    const auto& tile = image_grid.tiles[i];
    const double x = margin + static_cast<double>(i % columns) * (tile_width + gap);
    const double y = margin + header_height + static_cast<double>(i / columns) * row_height;
    canvas.grey_image(tile.pixels, image_grid.pixel_columns, x, y, pixel);
    canvas.text(tile.label, x + tile_width / 2, y + tile_height + 16, 12.5, ink, Align::centre);
    canvas.text(tile.detail, x + tile_width / 2, y + tile_height + 31, 10.5, faint, Align::centre);
  }
  return canvas.finish();
}

}  // namespace metalloid::plot
