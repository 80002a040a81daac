// A kernel and what it is run with. Both are written in one file of Metal source: above each kernel, comments that
// begin with //@ say its arguments in the order of its parameters, and the grids it is run on.
//
//     //@ buffer float random N          N: the threads of the grid; 4N, N+1 and 100 are counts too
//     //@ bytes uint 17                  one value or several: 1,2,3
//     //@ texture rgba8unorm random 13x7
//     //@ sampler linear repeat
//     //@ threadgroup 1024               bytes of threadgroup memory
//     //@ functions twice,negated        a table of visible functions
//     //@ grid 100x7 group 16x4          as often as there are grids; without any, those of default_launches()
//     //@ tolerance 1e-4                 relative to what is above 1; without, that of the type (compare.hpp)
//     //@ seed 5                         of what is random
//
// Contents of buffers and textures: random (all bits of integers, floats of -2 … 2), special (NaN, infinities,
// denormals and the like in between), zeros, ramp, below:10 (random whole numbers 0 … 9).
#pragma once

#include <metalloid/result.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device/pipeline.hpp"
#include "device/sampler.hpp"
#include "device/size.hpp"
#include "differ/element.hpp"

namespace metalloid::differ {

struct Contents {
  enum Kind : uint8_t { random, special, zeros, ramp, below } kind = random;
  uint32_t limit = 0;  // of below
};

struct BufferArgument {
  Element element = Element::u32;
  Contents contents;
  uint32_t per_thread = 0, constant = 0;  // it has per_thread * threads + constant elements
};

struct BytesArgument {
  std::vector<uint8_t> bytes;
};

// A buffer whose elements may be structs. `bytes` is what it begins with.
struct StructuredArgument {
  struct Field {
    Element element = Element::u8;
    uint32_t offset = 0;
  };
  std::vector<Field> fields;  // of one element of the buffer
  uint32_t stride = 1;
  std::vector<uint8_t> bytes;
};

struct TextureArgument {
  unsigned pixel_format = 0;  // MTLPixelFormat
  Element element = Element::u8;
  Contents contents;
  uint32_t channels = 1, width = 1, height = 1;
  uint32_t slices = 1;  // more: it is an array
};

struct ThreadgroupArgument {
  uint32_t bytes = 0;
};

struct FunctionsArgument {
  std::vector<std::string> names;
};

using Argument = std::variant<BufferArgument, BytesArgument, StructuredArgument, TextureArgument, device::Sampler,
                              ThreadgroupArgument, FunctionsArgument>;

struct Launch {
  device::Size grid, threadgroup;  // threads
};

struct KernelCase {
  std::string source;
  std::string kernel;
  std::vector<device::ConstantValue> constants;
  std::vector<Argument> arguments;
  std::vector<Launch> launches;
  double tolerance = -1;  // below 0: that of the type
  uint64_t seed = 1;
};

// All cases of a file.
Result<std::vector<KernelCase>> parse_cases(std::string_view source);

// Grids of one, two and three dimensions whose last threadgroups and SIMD-groups are not full. Which ones depends on
// the number: together, a few kernels see all of them.
std::vector<Launch> default_launches(uint64_t number);

std::string to_text(const Launch& launch);

// The bytes that an argument begins with, for a grid of so many threads; `number` is its place.
std::vector<uint8_t> initial_bytes(const KernelCase& kernel, const Argument& argument, size_t number, uint64_t threads);

}  // namespace metalloid::differ
