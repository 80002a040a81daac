#include "mps/matrix/rows.hpp"

#include <algorithm>
#include <thread>

#include "mps/core/device_kind.hpp"

namespace metalloid::mps {

MTL::Size threads_for_row(MTL::Device* device, size_t columns) {
  constexpr size_t simdgroup = 32, numbers_per_thread = 8, most = 512;
  if (!is_gpu(device)) return MTL::Size(simdgroup, 1, 1);
  const size_t wanted = (columns / numbers_per_thread + simdgroup - 1) / simdgroup * simdgroup;
  return MTL::Size(std::clamp(wanted, simdgroup, most), 1, 1);
}

MTL::Size threads_along_row(size_t columns) {
  return MTL::Size(std::clamp<size_t>((columns + 31) / 32 * 32, 32, 256), 1, 1);
}

SpanThreads threads_over_spans(MTL::Device* device, size_t columns, size_t rows, size_t matrices) {
  constexpr size_t simdgroup = 32, many = 4096;
  const MTL::Size threadgroup = is_gpu(device) ? threads_along_row(columns) : MTL::Size(simdgroup, 1, 1);
  const size_t most = is_gpu(device) ? threadgroup.width : many;
  return {{uint32_t(columns), uint32_t(most)},
          MTL::Size((columns + most - 1) / most * threadgroup.width, rows, matrices),
          threadgroup};
}

size_t rows_in_turn(size_t rows) {
  constexpr size_t most = 64, groups = 64;  // so many that threads are done at about the same time
  return std::clamp<size_t>(rows / groups, 1, most);
}

size_t images_in_turn(size_t images) {
  constexpr size_t most = 256;
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  return std::min((images + processors - 1) / processors, most);
}

bool fills_caches(MTL::Device* device, size_t bytes) {
  return !is_gpu(device) && bytes >= size_t{32} << 20;
}

}  // namespace metalloid::mps
