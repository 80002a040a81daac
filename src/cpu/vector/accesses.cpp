#include "cpu/vector/accesses.hpp"

#include <llvm/ADT/BitVector.h>

#include <algorithm>
#include <optional>

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned shortest_part = 4;  // of lanes that are accessed together

std::optional<Window> window_of(const Shape& shape, int64_t bytes, unsigned first, unsigned count) {
  Window window{first, first, {}, 0};
  for (unsigned lane = first + 1; lane < first + count; ++lane) {
    if (shape.factor_step(lane) != shape.factor_step(first)) return std::nullopt;
    if (shape.step(lane) < shape.step(window.lowest_lane)) window.lowest_lane = lane;
  }
  for (unsigned lane = first; lane < first + count; ++lane) {
    const int64_t distance = shape.step(lane) - shape.step(window.lowest_lane);
    if (distance % bytes != 0 || distance / bytes >= count) return std::nullopt;
    window.places.push_back(static_cast<int>(distance / bytes));
  }
  window.length = static_cast<unsigned>(*std::ranges::max_element(window.places)) + 1;
  if (!llvm::isPowerOf2_32(window.length)) return std::nullopt;
  return window;
}

}  // namespace

Access access_of(llvm::Type* type, llvm::Align alignment, const llvm::DataLayout& layout) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  llvm::Type* scalar = type->getScalarType();
  const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(scalar).getFixedValue());
  return {scalar, vector ? vector->getNumElements() : 1, bytes, llvm::commonAlignment(alignment, bytes)};
}

Distance distance_of(llvm::Value* pointer, const llvm::DataLayout& layout) {
  llvm::APInt bytes(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  llvm::Value* base = pointer->stripAndAccumulateConstantOffsets(layout, bytes, /*AllowNonInbounds=*/true);
  if (base->getType() != pointer->getType()) return {pointer, 0};  // of another address space
  return {base, bytes.getSExtValue()};
}

llvm::SmallVector<Run> runs_of(const Shape& shape, int64_t bytes, bool of_one_address) {
  llvm::SmallVector<Run> runs;
  const auto width = static_cast<unsigned>(shape.offsets.size());
  for (unsigned first = 0; first < width;) {
    Run run{first, 1, false};
    const auto continues = [&](unsigned lane, int64_t distance) {
      return lane < width && shape.step(lane) - shape.step(lane - 1) == distance &&
             shape.factor_step(lane) == shape.factor_step(first);
    };
    if (of_one_address && continues(first + 1, 0)) {
      run.is_one_address = true;
      while (continues(first + run.count, 0)) ++run.count;
    } else {
      while (continues(first + run.count, bytes)) ++run.count;
    }
    runs.push_back(run);
    first += run.count;
  }
  return runs;
}

Shape period_of(Shape shape) {
  const auto width = static_cast<unsigned>(shape.offsets.size());
  const auto repeats = [&](unsigned period) {
    for (unsigned lane = period; lane < width; ++lane)
      if (shape.step(lane) != shape.step(lane - period) || shape.factor_step(lane) != shape.factor_step(lane - period))
        return false;
    return true;
  };
  unsigned period = width;
  while (period % 2 == 0 && repeats(period / 2)) period /= 2;
  shape.offsets.resize(period);
  if (shape.factor) shape.coefficients.resize(period);
  return shape;
}

int64_t stride_of(const Shape& shape) {
  if (shape.factor) return 0;
  const int64_t stride = shape.step(1);
  for (unsigned l = 2; l < shape.offsets.size(); ++l)
    if (shape.step(l) - shape.step(l - 1) != stride) return 0;
  return stride;
}

std::optional<Shape> side_by_side(const Shape& shape, const Access& access) {
  if (!shape.is_known() || !shape.factor || access.count > 1) return std::nullopt;
  Shape result = shape;
  for (size_t l = 0; l < shape.offsets.size(); ++l) result.offsets[l] += shape.coefficients[l];
  result.factor = nullptr;
  result.coefficients.clear();
  if (stride_of(result) != access.scalar_bytes) return std::nullopt;
  return result;
}

Rows rows_of(const Shape& shape, unsigned count, int64_t bytes) {
  const int64_t stride = shape.step(1);
  const auto continues = [&](unsigned lane) {
    return shape.step(lane) - shape.step(lane - 1) == stride && shape.factor_step(lane) == shape.factor_step(lane - 1);
  };
  unsigned lanes = 1;
  while (lanes < count && continues(lanes)) ++lanes;
  if (lanes < shortest_part || count % lanes != 0 || count / lanes > most_runs) return {};
  if (lanes < shape.offsets.size() && stride > bytes * lanes) return {};
  for (unsigned lane = lanes; lane < count; ++lane)
    if (lane % lanes != 0 && !continues(lane)) return {};
  return {lanes, stride};
}

llvm::SmallVector<Window> windows_of(const Shape& shape, const Access& access, unsigned width) {
  if (access.count > 1) return {};
  for (unsigned count = width; count >= shortest_part && width / count <= most_runs; count /= 2) {
    llvm::SmallVector<Window> windows;
    for (unsigned first = 0; first < width; first += count) {
      auto window = window_of(shape, access.bytes(), first, count);
      if (!window) break;
      windows.push_back(std::move(*window));
    }
    if (windows.size() == width / count) return windows;
  }
  return {};
}

bool are_orders(llvm::ArrayRef<Window> windows) {
  return llvm::all_of(windows, [](const Window& window) {
    llvm::BitVector seen(window.length);
    for (const int place : window.places) seen.set(static_cast<unsigned>(place));
    return window.length == window.places.size() && seen.all();
  });
}

bool lies_in_stride(const Access& access, int64_t stride) {
  return stride >= access.bytes() && stride % access.scalar_bytes == 0;
}

// Powers of two take few shuffles.
bool is_loaded_over_stride(int64_t scalars, int64_t wanted) {
  constexpr int64_t longest = 32;
  return scalars <= 4 * wanted && scalars <= (llvm::isPowerOf2_64(static_cast<uint64_t>(scalars)) ? longest : 4);
}

bool is_stored_over_stride(int64_t scalars, int64_t wanted) {
  return scalars == wanted;
}

llvm::SmallVector<int> inverse(llvm::ArrayRef<int> places) {
  llvm::SmallVector<int> lanes(places.size());
  for (size_t lane = 0; lane < places.size(); ++lane) lanes[static_cast<size_t>(places[lane])] = static_cast<int>(lane);
  return lanes;
}

llvm::SmallVector<int> every(unsigned count, unsigned stride, unsigned first) {
  llvm::SmallVector<int> places;
  for (unsigned i = 0; i < count; ++i) places.push_back(static_cast<int>(first + i * stride));
  return places;
}

}  // namespace metalloid::cpu::vector
