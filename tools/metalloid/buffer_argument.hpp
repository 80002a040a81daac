// What `metalloid run --buffer` says about one buffer, and the bytes it stands for.
//
//   KEY=f32:random:1024         an input: type, contents, shape
//   KEY=out:f32:32x32           an output: zeros at the start, printed at the end
//   KEY=inout:f32:ramp:1024     both
//   KEY=@x.npy                  an input from a file, with the type and shape that it has
//   KEY=f32:@x.raw[:SHAPE]      an input from a file of bare numbers
//   KEY=out:f32:1024:@y.npy     an output saved to a file: .npy, or bare numbers under any other name
//   KEY=u32:1024                one number, or several (f32:1,2,3)
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "element_type.hpp"

namespace metalloid::tool {

struct BufferArgument {
  std::string key;  // the argument's name, or its index
  const ElementType* type = nullptr;
  std::vector<uint64_t> shape;
  std::string bytes;  // at the start
  bool is_output = false;
  std::string save_to;  // empty: printed

  uint64_t count() const { return bytes.size() / type->size; }
};

// Throws a Failure that says what is wrong and how it is written.
BufferArgument parse_buffer_argument(const std::string& text, std::mt19937_64& random);

// The elements, at most `limit` of them, as rows of the innermost dimension.
std::string show_elements(const ElementType& type, const std::vector<uint64_t>& shape, const void* bytes,
                          uint64_t limit);

}  // namespace metalloid::tool
