// How much memory a tensor takes, by its type and shape. A unit is what is stored as a whole: a number, or a block.
#pragma once

#include <metalloid/tensor_type.hpp>
#include <optional>
#include <span>

namespace metalloid::formats {

size_t numbers_per_unit(TensorType type);
size_t bytes_per_unit(TensorType type);
size_t alignment_of(TensorType type);

// None: so many bytes that 64 bits cannot say it, or rows that are not whole blocks.
std::optional<size_t> size_in_bytes(TensorType type, std::span<const size_t> shape);

}  // namespace metalloid::formats
