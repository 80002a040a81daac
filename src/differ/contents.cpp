// What buffers and textures hold before a kernel runs.
#include <array>
#include <limits>

#include "differ/kernel_case.hpp"
#include "differ/random.hpp"

namespace metalloid::differ {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::array special_floats = {0.0,          -0.0,   1.0,      -1.0, infinity, -infinity,
                                       not_a_number, 1e-40,  -1e-40,   6e-8, 65504.0,  1e30,
                                       -1e30,        3.4e38, 0x1p-126, 0.5,  0.999999, 2147483648.0};
constexpr std::array special_integers = {0.0,     1.0,     -1.0,         2.0,           127.0,        128.0, 255.0,
                                         32767.0, 65535.0, 2147483647.0, -2147483648.0, 4294967295.0, 31.0,  32.0};

void put_random(Element element, Random& random, uint8_t* bytes) {
  if (info(element).is_float) return put_number(element, random.between(-2, 2), bytes);
  // Of all magnitudes: uniform ones would nearly all be huge.
  const uint64_t value = random.bits() >> random.below(64);
  for (size_t i = 0; i < info(element).bytes; ++i) bytes[i] = static_cast<uint8_t>(value >> 8 * i);
}

void put_special(Element element, Random& random, uint8_t* bytes) {
  if (random.chance(50)) return put_random(element, random, bytes);
  if (info(element).is_float)
    put_number(element, special_floats[random.below(special_floats.size())], bytes);
  else
    put_number(element, special_integers[random.below(special_integers.size())], bytes);
}

std::vector<uint8_t> fill(Element element, const Contents& contents, size_t count, uint64_t seed) {
  Random random(seed);
  const size_t size = info(element).bytes;
  std::vector<uint8_t> bytes(count * size);
  for (size_t i = 0; i < count; ++i) {
    uint8_t* at = bytes.data() + i * size;
    switch (contents.kind) {
      case Contents::random:
        put_random(element, random, at);
        break;
      case Contents::special:
        put_special(element, random, at);
        break;
      case Contents::zeros:
        break;
      case Contents::ramp:
        put_number(element, static_cast<double>(i), at);
        break;
      case Contents::below:
        put_number(element, random.below(contents.limit), at);
        break;
    }
  }
  return bytes;
}

}  // namespace

std::vector<uint8_t> initial_bytes(const KernelCase& kernel, const Argument& argument, size_t number,
                                   uint64_t threads) {
  const uint64_t seed = kernel.seed * 1000003 + number * 7919 + threads;
  if (const auto* buffer = std::get_if<BufferArgument>(&argument))
    return fill(buffer->element, buffer->contents, buffer->per_thread * threads + buffer->constant, seed);
  if (const auto* texture = std::get_if<TextureArgument>(&argument))
    return fill(texture->element, texture->contents,
                size_t{texture->width} * texture->height * texture->slices * texture->channels, seed);
  if (const auto* bytes = std::get_if<BytesArgument>(&argument)) return bytes->bytes;
  if (const auto* structured = std::get_if<StructuredArgument>(&argument)) return structured->bytes;
  return {};
}

}  // namespace metalloid::differ
