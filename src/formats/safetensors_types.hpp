// What the reader and the writer of safetensors files agree on.
#pragma once

#include <cstddef>
#include <metalloid/tensor_type.hpp>
#include <optional>
#include <string_view>

namespace metalloid::formats {

// The file is: the header's length as eight bytes, the header (JSON), the tensors' bytes one after the other.
inline constexpr size_t safetensors_length_bytes = 8;
inline constexpr size_t safetensors_largest_header = 100'000'000;
inline constexpr const char* safetensors_metadata_key = "__metadata__";

// None: safetensors has no such type, or we have not.
std::optional<TensorType> safetensors_type(std::string_view name);

}  // namespace metalloid::formats
