#include "cpu/validation/shadow.hpp"

namespace metalloid::cpu::validation {

void Shadow::Page::split(unsigned finer) {
  std::vector<Cell> pieces;
  pieces.reserve(page_size >> finer);
  for (const Cell& cell : cells) pieces.insert(pieces.end(), size_t{1} << (shift - finer), cell);
  cells = std::move(pieces);
  shift = finer;
}

Shadow::Page& Shadow::page_at(uint64_t number) {
  Recent& recent = recent_[number % recent_.size()];
  if (recent.number == number) return *recent.page;
  auto& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  recent = {number, page.get()};
  return *page;
}

}  // namespace metalloid::cpu::validation
