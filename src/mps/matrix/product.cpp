#include "mps/matrix/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {
namespace {

bool is_input(MPS::DataType type) {
  return type == MPS::DataTypeFloat32 || type == MPS::DataTypeFloat16 || type == MPS::DataTypeBFloat16 ||
         type == MPS::DataTypeInt8 || type == MPS::DataTypeInt16;
}

size_t groups_of(size_t count, size_t size) {
  return (count + size - 1) / size;
}

// As kernels/product.h has it.
struct ProductShape {
  uint32_t rows, columns, interior;
  float alpha, beta;
  RowStrides left, right, result;
};

ProductShape shape_of(const MatrixProduct& p) {
  return {.rows = uint32_t(p.rows),
          .columns = uint32_t(p.columns),
          .interior = uint32_t(p.interior),
          .alpha = float(p.alpha),
          .beta = float(p.beta),
          .left = {p.left_row_stride, p.left_batch_stride},
          .right = {p.right_row_stride, p.right_batch_stride},
          .result = {p.result_row_stride, p.result_batch_stride}};
}

// As kernels/convert.metal has it.
struct Conversion {
  uint32_t columns;
  RowStrides from, to;
};

// One of a product's matrices, as it is stored.
struct Stored {
  Operand first;
  MPS::DataType type;
  size_t rows, columns, matrices;
  RowStrides strides;
};

void convert(Encoding& encoding, const Stored& from, const Stored& to) {
  const MTL::Size threads = threads_for_row(encoding.device(), from.columns);
  encoding.dispatch({fmt::format("convert_{}_{}", metal_name_of(from.type), metal_name_of(to.type))},
                    MTL::Size(threads.width, from.rows, from.matrices), threads, from.first, to.first,
                    Conversion{uint32_t(from.columns), from.strides, to.strides});
}

// Room for the same numbers as another type, side by side.
Stored room_for(Encoding& encoding, const Stored& matrix, MPS::DataType type) {
  return {.first = encoding.scratch(bytes_of(type, matrix.rows * matrix.columns * matrix.matrices)),
          .type = type,
          .rows = matrix.rows,
          .columns = matrix.columns,
          .matrices = matrix.matrices,
          .strides = {matrix.columns, matrix.strides.matrix ? matrix.rows * matrix.columns : 0}};
}

Stored converted(Encoding& encoding, const Stored& matrix, MPS::DataType type) {
  if (matrix.type == type) return matrix;
  const Stored room = room_for(encoding, matrix, type);
  if (room.first.buffer) convert(encoding, matrix, room);
  return room;
}

void dispatch_product(Encoding& encoding, const MatrixProduct& p, Operand left, Operand right, Operand result) {
  const std::vector<uint32_t> transposes = {p.transpose_left, p.transpose_right};
  if (p.result_type == MPS::DataTypeInt32) {
    encoding.dispatch({fmt::format("integer_product_{}", metal_name_of(p.left_type)), transposes},
                      MTL::Size(groups_of(p.columns, 32) * 32, p.rows, p.batch), MTL::Size(32, 1, 1), left, right,
                      result, shape_of(p));
    return;
  }
  const size_t tile = is_gpu(encoding.device()) ? 64 : 32, threads = tile * tile / 32;
  encoding.dispatch(
      {fmt::format("gemm_{}_{}_{}", metal_name_of(p.left_type), metal_name_of(p.result_type), tile), transposes},
      MTL::Size(groups_of(p.columns, tile) * threads, groups_of(p.rows, tile), p.batch), MTL::Size(threads, 1, 1), left,
      right, result, shape_of(p));
}

bool has_kernel(const MatrixProduct& p) {
  if (p.left_type != p.right_type) return false;
  if (p.result_type == MPS::DataTypeInt32) return true;
  return is_floating_point(p.left_type) && (p.result_type == p.left_type || p.result_type == MPS::DataTypeFloat32);
}

// Converting all there is, and handing it to other threads, costs less than what a library saves where there is much to
// do with each number.
bool is_worth_converting(const MatrixProduct& p) {
  constexpr size_t least_side = 384;
  return std::min({p.rows, p.columns, p.interior}) >= least_side;
}

// Float for all but sums of int, which have short.
void encode_converted(Encoding& encoding, ProductPrimitives& primitives, const MatrixProduct& p, Operand left,
                      Operand right, Operand result) {
  const bool of_integers = p.result_type == MPS::DataTypeInt32;
  const MPS::DataType input_type = of_integers ? MPS::DataTypeInt16 : MPS::DataTypeFloat32;
  const MPS::DataType result_type = of_integers ? MPS::DataTypeInt32 : MPS::DataTypeFloat32;
  const auto stored = [](Operand first, MPS::DataType type, size_t rows, size_t columns, size_t matrices,
                         size_t row_stride, size_t batch_stride) {
    return Stored{first, type, rows, columns, batch_stride ? matrices : 1, {row_stride, batch_stride}};
  };
  const Stored a =
      converted(encoding,
                stored(left, p.left_type, p.transpose_left ? p.interior : p.rows,
                       p.transpose_left ? p.rows : p.interior, p.batch, p.left_row_stride, p.left_batch_stride),
                input_type);
  const Stored b =
      converted(encoding,
                stored(right, p.right_type, p.transpose_right ? p.columns : p.interior,
                       p.transpose_right ? p.interior : p.columns, p.batch, p.right_row_stride, p.right_batch_stride),
                input_type);
  const Stored wanted{result, p.result_type, p.rows, p.columns, p.batch, {p.result_row_stride, p.result_batch_stride}};
  const Stored c = wanted.type == result_type ? wanted
                   : p.beta != 0              ? converted(encoding, wanted, result_type)
                                              : room_for(encoding, wanted, result_type);
  if (!a.first.buffer || !b.first.buffer || !c.first.buffer) return;
  MatrixProduct in_float = p;
  in_float.left_type = in_float.right_type = input_type;
  in_float.result_type = result_type;
  in_float.left_row_stride = a.strides.row;
  in_float.left_batch_stride = a.strides.matrix;
  in_float.right_row_stride = b.strides.row;
  in_float.right_batch_stride = b.strides.matrix;
  in_float.result_row_stride = c.strides.row;
  in_float.result_batch_stride = c.strides.matrix;
  encode_product(encoding, primitives, in_float, a.first, b.first, c.first);
  if (wanted.type != result_type) convert(encoding, c, wanted);
}

}  // namespace

std::shared_ptr<Primitive> ProductPrimitives::find(const MathLibrary& library, const MatrixProduct& product) {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < made_.size(); ++i) {
    const size_t place = (last_ + i) % made_.size();
    if (made_[place].first != product) continue;
    last_ = place;
    return made_[place].second;
  }
  std::pair made(product, library.matrix_product(product));
  if (made_.size() < most) {
    last_ = made_.size();
    made_.push_back(std::move(made));
  } else {
    last_ = oldest_;
    oldest_ = (oldest_ + 1) % most;
    made_[last_] = std::move(made);
  }
  return made_[last_].second;
}

MatrixProduct product_of(MatrixProduct product, const MatrixView& left, const MatrixView& right,
                         const MatrixView& result) {
  product.left_type = left.type;
  product.right_type = right.type;
  product.result_type = result.type;
  product.batch = std::min({left.matrices, right.matrices, result.matrices});
  product.left_row_stride = left.strides.row;
  product.left_batch_stride = left.strides.matrix;
  product.right_row_stride = right.strides.row;
  product.right_batch_stride = right.strides.matrix;
  product.result_row_stride = result.strides.row;
  product.result_batch_stride = result.strides.matrix;
  return product;
}

Status check_product_types(MPS::DataType left, MPS::DataType right, MPS::DataType result) {
  for (const auto& [type, name] : {std::pair{left, "left"}, std::pair{right, "right"}})
    if (!is_input(type))
      return Error{fmt::format("{}Matrix has the type {}; a product takes Float32, Float16, BFloat16, Int8 and Int16",
                               name, name_of(type))};
  const bool of_integers = !is_floating_point(left) && !is_floating_point(right);
  if (is_floating_point(result) ? is_input(result) : result == MPS::DataTypeInt32 && of_integers) return success();
  return Error{fmt::format("resultMatrix has the type {}; a product of {} and {} is Float32, Float16{}",
                           name_of(result), name_of(left), name_of(right),
                           of_integers ? ", BFloat16 or Int32" : " or BFloat16")};
}

Status check_product(const MatrixProduct& product, Operand left, const char* left_name, Operand right,
                     const char* right_name, Operand result) {
  if (product.result_type == MPS::DataTypeInt32)
    for (const auto& [factor, name] : {std::pair{product.alpha, "alpha"}, std::pair{product.beta, "beta"}})
      if (!(std::trunc(factor) == factor && std::abs(factor) <= INT32_MAX))
        return Error{fmt::format("{} is {}; it must be a whole number of Int32 where the result is", name, factor)};
  const auto place = [](Operand first, MPS::DataType type, size_t rows, size_t columns, bool transposed, size_t stride,
                        size_t matrix_stride) {
    return MatrixPlace{first, transposed ? columns : rows, bytes_of(type, transposed ? rows : columns),
                       bytes_of(type, stride), bytes_of(type, matrix_stride)};
  };
  const MatrixPlace c = place(result, product.result_type, product.rows, product.columns, false,
                              product.result_row_stride, product.result_batch_stride);
  const MatrixPlace a = place(left, product.left_type, product.rows, product.interior, product.transpose_left,
                              product.left_row_stride, product.left_batch_stride);
  const MatrixPlace b = place(right, product.right_type, product.interior, product.columns, product.transpose_right,
                              product.right_row_stride, product.right_batch_stride);
  for (const auto& [factor, name] : {std::pair{a, left_name}, std::pair{b, right_name}})
    if (!are_apart(factor, c, product.batch))
      return Error{fmt::format("the result overlaps {}, which is still read while it is written", name)};
  return success();
}

void encode_product(Encoding& encoding, ProductPrimitives& primitives, const MatrixProduct& asked, Operand left,
                    Operand right, Operand result) {
  const MathLibrary* library = encoding.library();
  MatrixProduct product = asked;
  product.alignment = common_alignment({left, right, result}, 256);
  if (library)
    if (auto primitive = primitives.find(*library, product)) {
      encoding.run(std::move(primitive), "matrix product", {left, right, result});
      return;
    }
  const bool for_library = library && product.result_type != MPS::DataTypeInt32 && is_worth_converting(product) &&
                           product.left_type != MPS::DataTypeFloat32;
  if (has_kernel(product) && !for_library)
    dispatch_product(encoding, product, left, right, result);
  else
    encode_converted(encoding, primitives, product, left, right, result);
}

}  // namespace metalloid::mps
