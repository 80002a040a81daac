#include "transformer/check.hpp"

#include <algorithm>

#include "formats/tensor_size.hpp"
#include "transformer/tensor_memory.hpp"

namespace metalloid::transformer {

bool is_aligned(const Tensor& tensor) {
  const auto address = reinterpret_cast<uintptr_t>(tensor.memory()->host) + tensor.offset();
  return address % formats::alignment_of(tensor.type()) == 0;
}

void Check::is_tensor(const Tensor& tensor, const char* name, std::initializer_list<TensorType> types) {
  require(bool(tensor), "{} is no tensor: it was never made, or is a view that does not fit", name);
  if (!*this) return;
  require(std::find(types.begin(), types.end(), tensor.type()) != types.end(),
          "{} is of type {}, which this operation does not take here", name, name_of(tensor.type()));
  require(is_aligned(tensor), "{} lies at an address that is no multiple of {}; resident() gives a copy that does not",
          name, formats::alignment_of(tensor.type()));
  for (const size_t length : tensor.shape())
    require(length <= UINT32_MAX / 2, "{} has the shape {}, and no dimension may have so many numbers", name,
            text_of(tensor.shape()));
}

void Check::is_activation(const Tensor& tensor, const char* name) {
  is_tensor(tensor, name, {TensorType::f32, TensorType::f16, TensorType::bf16});
}

void Check::is_weights(const Tensor& tensor, const char* name) {
  is_tensor(tensor, name, {TensorType::f32, TensorType::f16, TensorType::bf16, TensorType::q8_0});
}

void Check::has_type_of(const Tensor& tensor, const char* name, const Tensor& other, const char* other_name) {
  require(tensor.type() == other.type(), "{} is of type {}, and {} is {}", name, name_of(tensor.type()), other_name,
          name_of(other.type()));
}

void Check::has_shape(const Tensor& tensor, const char* name, const std::vector<size_t>& shape) {
  require(tensor.shape() == shape, "{} has the shape {}, and {} is needed", name, text_of(tensor.shape()),
          text_of(shape));
}

void Check::has_shape_of(const Tensor& tensor, const char* name, const Tensor& other, const char* other_name) {
  require(tensor.shape() == other.shape(), "{} has the shape {}, and {} has {}", name, text_of(tensor.shape()),
          other_name, text_of(other.shape()));
}

void Check::has_columns(const Tensor& tensor, const char* name, size_t columns, const char* why) {
  require(tensor.columns() == columns, "the rows of {} have {} numbers, and {} are needed, {}", name, tensor.columns(),
          columns, why);
}

void Check::is_apart_from(const Tensor& result, const Tensor& tensor, const char* name) {
  if (!result || !tensor || result.memory() != tensor.memory()) return;
  require(result.offset() + result.bytes() <= tensor.offset() || tensor.offset() + tensor.bytes() <= result.offset(),
          "the result overlaps {}", name);
}

}  // namespace metalloid::transformer
