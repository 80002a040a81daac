// The number formats of tensors in model files and checkpoints.
#pragma once

#include <cstddef>
#include <string_view>

namespace metalloid {

enum class TensorType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean, q8_0 };

// Q8_0 packs 32 numbers into a block: a half for the scale, then 32 signed bytes.
inline constexpr size_t q8_0_block = 32, q8_0_block_bytes = 34;

// As safetensors spells it: F32, BF16, I8.
std::string_view name_of(TensorType type);

// The bytes of that many numbers; of Q8_0, whole blocks only.
size_t bytes_of(TensorType type, size_t count);

}  // namespace metalloid
