// Small grey images in rows, each with a line of words below, as SVG or PNG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "canvas.hpp"

namespace metalloid::plot {

struct ImageGrid {
  std::string title, subtitle;
  struct Tile {
    std::vector<uint8_t> pixels;  // 0 is black; as many for all tiles
    std::string label, detail;
  };
  std::vector<Tile> tiles;
  size_t pixel_columns = 28;  // of a tile
  size_t columns = 10;        // of tiles
};

std::string draw(const ImageGrid& image_grid, ImageFormat format);

}  // namespace metalloid::plot
