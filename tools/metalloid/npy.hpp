// NumPy's file format for one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "element_type.hpp"

namespace metalloid::tool {

struct Array {
  const ElementType* type = nullptr;
  std::vector<uint64_t> shape;
  std::string bytes;  // C order, little-endian
};

// Throws a Failure that names the file and what is wrong with it.
Array read_npy(const std::string& path);

// A type that NumPy does not have (bf16) is written as its bits, u16.
void write_npy(const std::string& path, const ElementType& type, const std::vector<uint64_t>& shape,
               std::string_view bytes);

}  // namespace metalloid::tool
