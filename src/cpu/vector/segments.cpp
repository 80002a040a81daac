#include "cpu/vector/segments.hpp"

#include <llvm/ADT/SmallSet.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned shortest = 4;      // scalars of a segment
constexpr unsigned most_sources = 4;  // registers that one is shuffled from

// A scalar of a lane.
struct Scalar {
  int64_t factor_step, step;
  unsigned lane, number;
};

unsigned most_sources_of(const llvm::SmallVector<int>& places, unsigned scalars_of_register) {
  size_t most = 0;
  for (size_t first = 0; first < places.size(); first += scalars_of_register) {
    llvm::SmallSet<unsigned, 8> sources;
    for (size_t lane = first; lane < std::min(places.size(), first + scalars_of_register); ++lane)
      sources.insert(static_cast<unsigned>(places[lane]) / scalars_of_register);
    most = std::max<size_t>(most, sources.size());
  }
  return static_cast<unsigned>(most);
}

}  // namespace

std::optional<Segments> segments_of(const Shape& shape, const Access& access, llvm::ArrayRef<int64_t> distances,
                                    unsigned scalars_of_register) {
  const auto width = static_cast<unsigned>(shape.offsets.size());
  std::vector<Scalar> scalars;
  for (unsigned number = 0; number < distances.size(); ++number)
    for (unsigned lane = 0; lane < width; ++lane)
      scalars.push_back({shape.factor_step(lane), shape.step(lane) + distances[number], lane, number});
  std::ranges::sort(scalars, {}, [](const Scalar& s) { return std::tuple(s.factor_step, s.step); });

  Segments segments;
  segments.places.assign(distances.size(), llvm::SmallVector<int>(width));
  segments.has_each_once = true;
  unsigned length = 0;  // of the last one
  for (size_t i = 0; i < scalars.size(); ++i) {
    const Scalar& scalar = scalars[i];
    const int64_t gap = i > 0 && scalar.factor_step == scalars[i - 1].factor_step ? scalar.step - scalars[i - 1].step
                                                                                  : std::numeric_limits<int64_t>::max();
    if (gap == 0) {
      segments.has_each_once = false;
    } else if (gap == access.scalar_bytes) {
      ++length;
    } else {
      if (i > 0 && segments.length == 0) segments.length = length;
      if (length != segments.length) return std::nullopt;
      segments.starts.push_back({scalar.lane, distances[scalar.number]});
      length = 1;
    }
    segments.places[scalar.number][scalar.lane] =
        static_cast<int>((segments.starts.size() - 1) * segments.length + length - 1);
  }
  if (segments.length == 0) segments.length = length;
  const bool are_alike = length == segments.length && llvm::isPowerOf2_32(length) && length >= shortest;
  if (!are_alike || !llvm::isPowerOf2_64(segments.starts.size())) return std::nullopt;
  for (const auto& places : segments.places)
    if (most_sources_of(places, scalars_of_register) > most_sources) return std::nullopt;
  return segments;
}

}  // namespace metalloid::cpu::vector
