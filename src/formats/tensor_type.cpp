#include <metalloid/tensor_type.hpp>

#include "formats/tensor_size.hpp"

namespace metalloid {

std::string_view name_of(TensorType type) {
  switch (type) {
    case TensorType::f64:
      return "F64";
    case TensorType::f32:
      return "F32";
    case TensorType::f16:
      return "F16";
    case TensorType::bf16:
      return "BF16";
    case TensorType::i64:
      return "I64";
    case TensorType::i32:
      return "I32";
    case TensorType::i16:
      return "I16";
    case TensorType::i8:
      return "I8";
    case TensorType::u8:
      return "U8";
    case TensorType::boolean:
      return "BOOL";
    case TensorType::q8_0:
      return "Q8_0";
  }
  return "?";
}

size_t bytes_of(TensorType type, size_t count) {
  return count / formats::numbers_per_unit(type) * formats::bytes_per_unit(type);
}

namespace formats {

size_t numbers_per_unit(TensorType type) {
  return type == TensorType::q8_0 ? q8_0_block : 1;
}

size_t bytes_per_unit(TensorType type) {
  switch (type) {
    case TensorType::f64:
    case TensorType::i64:
      return 8;
    case TensorType::f32:
    case TensorType::i32:
      return 4;
    case TensorType::f16:
    case TensorType::bf16:
    case TensorType::i16:
      return 2;
    case TensorType::i8:
    case TensorType::u8:
    case TensorType::boolean:
      return 1;
    case TensorType::q8_0:
      return q8_0_block_bytes;
  }
  return 1;
}

size_t alignment_of(TensorType type) {
  return type == TensorType::q8_0 ? 2 : bytes_per_unit(type);
}

std::optional<size_t> size_in_bytes(TensorType type, std::span<const size_t> shape) {
  size_t units = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_row = i + 1 == shape.size();
    if (is_row && shape[i] % numbers_per_unit(type) != 0) return std::nullopt;
    const size_t extent = is_row ? shape[i] / numbers_per_unit(type) : shape[i];
    if (__builtin_mul_overflow(units, extent, &units)) return std::nullopt;
  }
  if (shape.empty() && numbers_per_unit(type) != 1) return std::nullopt;
  size_t bytes = 0;
  if (__builtin_mul_overflow(units, bytes_per_unit(type), &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace formats
}  // namespace metalloid
