#include "mps/matrix/column_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/host_maker.hpp"
#include "mps/core/data_type.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {
namespace {

constexpr size_t columns_together = 1024;  // as kernels/columns.h has it
constexpr size_t simdgroup = 32;

// As kernels/batch_normalization_blocks.metal has it.
struct KernelBlocks {
  NeuronParameters parameters;
  float epsilon;
  uint32_t rows, rows_of_block;
  RowStrides source, result;
  Span span;
};

struct Blocks {
  explicit Blocks(const ColumnsOfRows& source) : spans((source.columns + columns_together - 1) / columns_together) {
    constexpr size_t numbers_that_stay_near = 128 << 10, fewest_rows = 16, enough_blocks = 64;
    const size_t most_rows = numbers_that_stay_near / std::min(source.columns, columns_together);
    rows = std::clamp(source.rows * spans / enough_blocks, fewest_rows, std::max(fewest_rows, most_rows));
    count = (source.rows + rows - 1) / rows;
  }
  size_t spans, rows, count;

  MTL::Size threads(size_t matrices) const { return MTL::Size(simdgroup * spans, count, matrices); }
};

// Of 4096 x 4096 floats, an Emerald Rapids makes statistics in about 1.25 ms if rows are asked for into its nearest
// cache, as fast as it reads at all, and in 1.44 if into the second, which a Zen 4 wants; results leave in 2.0 ms
// instead of 2.1.
bool asks_near() {
  return device::host_maker() == device::Maker::intel;
}

KernelBlocks for_kernel(const Blocks& blocks, const ColumnsOfRows& source) {
  return {.parameters = {},
          .epsilon = 0,
          .rows = uint32_t(source.rows),
          .rows_of_block = uint32_t(blocks.rows),
          .source = source.strides,
          .result = {},
          .span = {uint32_t(source.columns), uint32_t(columns_together)}};
}

}  // namespace

void encode_column_statistics(Encoding& encoding, const ColumnsOfRows& source, Operand mean, Operand variance) {
  const Blocks blocks(source);
  const KernelBlocks shape = for_kernel(blocks, source);
  const char* type = metal_name_of(source.type);
  const Operand partial = encoding.scratch(2 * blocks.count * source.columns * sizeof(float));
  encoding.dispatch({fmt::format("batch_statistics_blocks_{}", type), {asks_near()}}, blocks.threads(1),
                    MTL::Size(simdgroup, 1, 1), source.first, partial, shape);
  encoding.dispatch({fmt::format("batch_statistics_combined_{}", type)}, MTL::Size(source.columns, 1, 1),
                    threads_along_row(source.columns), partial, mean, variance, shape);
}

void encode_column_normalization(Encoding& encoding, const ColumnsOfRows& source, Operand result,
                                 RowStrides result_strides, const ColumnNumbers& numbers, float epsilon,
                                 const Neuron& neuron) {
  const Blocks blocks(source);
  KernelBlocks shape = for_kernel(blocks, source);
  shape.parameters = neuron.parameters;
  shape.epsilon = epsilon;
  shape.result = result_strides;
  const bool streams =
      fills_caches(encoding.device(), bytes_of(source.type, source.rows * source.columns * source.matrices));
  encoding.dispatch(
      {fmt::format("batch_normalization_blocks_{}", metal_name_of(source.type)),
       {asks_near(), uint32_t(neuron.type), numbers.gamma.buffer != nullptr, numbers.beta.buffer != nullptr, streams}},
      blocks.threads(source.matrices), MTL::Size(simdgroup, 1, 1), source.first, result, numbers.mean, numbers.variance,
      numbers.gamma, numbers.beta, shape);
}

}  // namespace metalloid::mps
