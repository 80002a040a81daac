#include "mps/matrix/nd_array_multiplication.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

namespace {

using NDArrayMultiplicationObject = Object<MPS::NDArrayMatrixMultiplication, NDArrayMultiplicationPart>;

// Matrices of an array as a product takes them: rows with numbers side by side, transposed or not.
struct Matrices {
  Operand first;
  NDArrayLayout layout;
  bool transposed = false;
  size_t row_stride = 0;
};

bool has_rows(const NDArrayLayout& layout, size_t across, size_t down) {
  return (layout.length(across) == 1 || layout.stride(across) == 1) &&
         (layout.length(down) == 1 || layout.stride(down) >= ptrdiff_t(layout.length(across)));
}

// Where neither rows nor columns are rows, the numbers are copied into order first.
Result<Matrices> matrices_of(Encoding& encoding, Operand first, const NDArrayLayout& layout, bool as_written) {
  const auto row_stride = [](const NDArrayLayout& of, size_t across, size_t down) {
    return std::max(size_t(of.stride(down)), of.length(across));
  };
  if (has_rows(layout, 0, 1)) return Matrices{first, layout, false, row_stride(layout, 0, 1)};
  if (!as_written && has_rows(layout, 1, 0)) return Matrices{first, layout, true, row_stride(layout, 1, 0)};
  const NDArrayLayout packed = layout_of(layout.type, layout.lengths, /*packed_rows=*/true);
  const Operand room = encoding.scratch(packed.bytes());
  if (!room.buffer) return Error{"there is no memory for an array in order"};
  if (!as_written)
    if (const Status status = encode_copy(encoding, first, layout, room, packed); !status) return Error{status.error()};
  return Matrices{room, packed, false, row_stride(packed, 0, 1)};
}

Operand matrix_at(const Matrices& matrices, std::span<const size_t> place) {
  size_t numbers = 0;
  for (size_t i = 0; i < place.size(); ++i) numbers += place[i] * size_t(matrices.layout.stride(i + 3));
  return matrices.first + numbers * bits_of(matrices.layout.type) / 8;
}

// The same array with as many dimensions as another, whose lengths it takes where its own are 1.
NDArrayLayout broadcast(const NDArrayLayout& layout, const NDArrayLayout& wanted) {
  NDArrayLayout result{layout.type, wanted.lengths, {}};
  for (size_t i = 0; i < wanted.dimensions(); ++i) result.strides.push_back(layout.stride(i));
  return result;
}

}  // namespace

Result<NDArrayLayout> NDArrayMultiplicationPart::result_layout(std::span<NDArrayObject* const> sources) const {
  if (sources.size() < 2 || sources.size() > source_count)
    return Error{fmt::format("sourceArrays has {} arrays; this kernel was made for {}", sources.size(), source_count)};
  const NDArrayLayout &left = sources[0]->layout, &right = sources[1]->layout;
  if (left.length(0) != right.length(1))
    return Error{fmt::format("the first of sourceArrays has {} columns, and the second {} rows: they must be as many",
                             left.length(0), right.length(1))};
  std::vector<size_t> lengths = {right.length(0), left.length(1)};
  for (size_t i = 2; i < std::max(left.dimensions(), right.dimensions()); ++i) {
    if (left.length(i) != right.length(i) && left.length(i) != 1 && right.length(i) != 1)
      return Error{fmt::format("dimension {} has the length {} in the first of sourceArrays and {} in the second", i,
                               left.length(i), right.length(i))};
    lengths.push_back(std::max(left.length(i), right.length(i)));
  }
  if (sources.size() > 2)
    for (size_t i = 0; i < most_dimensions; ++i) {
      const size_t wanted = i < lengths.size() ? lengths[i] : 1, found = sources[2]->layout.length(i);
      if (found != wanted && found != 1)
        return Error{fmt::format("dimension {} has the length {} in the third of sourceArrays and {} in the product", i,
                                 found, wanted)};
    }
  const MPS::DataType type = is_floating_point(left.type) && left.type == right.type ? left.type : MPS::DataTypeFloat32;
  return layout_of(type, std::move(lengths), /*packed_rows=*/false);
}

Status NDArrayMultiplicationPart::encode(Encoding& encoding, std::span<NDArrayObject* const> sources,
                                         NDArrayObject& result) {
  const auto wanted = NDArrayMultiplicationPart::result_layout(sources);
  if (!wanted) return Error{wanted.error()};
  for (size_t i = 0; i < most_dimensions; ++i)
    if (result.layout.length(i) != wanted->length(i))
      return Error{fmt::format("dimension {} of destinationArray has the length {}, and that of the product {}", i,
                               result.layout.length(i), wanted->length(i))};
  const NDArrayObject &left = *sources[0], &right = *sources[1];
  if (const Status status = check_product_types(left.layout.type, right.layout.type, result.layout.type); !status)
    return status;

  const auto a = matrices_of(encoding, left.first(), left.layout, false);
  const auto b = matrices_of(encoding, right.first(), right.layout, false);
  const auto c = matrices_of(encoding, result.first(), result.layout, true);
  for (const auto* matrices : {&a, &b, &c})
    if (!*matrices) return Error{matrices->error()};
  const bool adds = sources.size() > 2 && beta != 0;
  if (adds && !(sources[2]->first() == c->first && sources[2]->layout.strides == c->layout.strides))
    if (const Status status =
            encode_copy(encoding, sources[2]->first(), broadcast(sources[2]->layout, c->layout), c->first, c->layout);
        !status)
      return status;

  MatrixProduct product;
  product.rows = wanted->length(1);
  product.columns = wanted->length(0);
  product.interior = left.layout.length(0);
  product.transpose_left = a->transposed;
  product.transpose_right = b->transposed;
  product.alpha = alpha;
  product.beta = adds ? beta : 0;
  product.left_type = left.layout.type;
  product.right_type = right.layout.type;
  product.result_type = result.layout.type;
  product.batch = wanted->length(2);
  product.left_row_stride = a->row_stride;
  product.left_batch_stride = size_t(a->layout.stride(2));
  product.right_row_stride = b->row_stride;
  product.right_batch_stride = size_t(b->layout.stride(2));
  product.result_row_stride = c->row_stride;
  product.result_batch_stride = size_t(c->layout.stride(2));
  // One product for all matrices along dimension 2, one after another along those beyond.
  std::vector<size_t> place(wanted->dimensions() > 3 ? wanted->dimensions() - 3 : 0, 0);
  if (const Status status = check_product(product, a->first, "the first of sourceArrays", b->first,
                                          "the second of sourceArrays", c->first);
      !status)
    return status;
  for (bool more = true; more;) {
    encode_product(encoding, primitives, product, matrix_at(*a, place), matrix_at(*b, place), matrix_at(*c, place));
    more = false;
    for (size_t i = 0; i < place.size() && !more; ++i) {
      more = ++place[i] < wanted->length(i + 3);
      if (!more) place[i] = 0;
    }
  }
  if (c->first == result.first()) return success();
  return encode_copy(encoding, c->first, c->layout, result.first(), result.layout);
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NDArrayMatrixMultiplication* NDArrayMatrixMultiplication::alloc() {
  return new NDArrayMultiplicationObject("MPSNDArrayMatrixMultiplication");
}

NDArrayMatrixMultiplication* NDArrayMatrixMultiplication::init(MTL::Device* device, NS::UInteger sourceCount) {
  constexpr const char* call = "-[MPSNDArrayMatrixMultiplication initWithDevice:sourceCount:]";
  auto* self = part_of<NDArrayMultiplicationPart>(this);
  if (self && (sourceCount < 2 || sourceCount > 3)) {
    foundation::report_misuse(call, fmt::format("sourceCount is {}; a product has 2 or 3 sources", sourceCount));
    return foundation::failed_init(this);
  }
  if (self) {
    self->source_count = sourceCount;
    self->call = "MPS::NDArrayMatrixMultiplication::encode";
  }
  return init_kernel(this, self, device, call);
}

MPS_PROPERTY(NDArrayMatrixMultiplication, NDArrayMultiplicationPart, double, alpha, setAlpha, alpha, (0))
MPS_PROPERTY(NDArrayMatrixMultiplication, NDArrayMultiplicationPart, double, beta, setBeta, beta, (0))

}  // namespace MPS
