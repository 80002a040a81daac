// Numbers of every type in memory of the host, for plain C++: each reads as float, and takes one.
#pragma once

#include <cstdint>
#include <metalloid/backend.hpp>

#include "device/small_float.hpp"
#include "transformer/tensor_memory.hpp"

namespace metalloid::transformer {

// Read without branches, so that compilers can take many at once: the bits of a half, moved to the places of a float's,
// are its value times 2^-112, but for infinities and NaNs.
struct Half {
  uint16_t bits;

  operator float() const {
    const uint32_t magnitude = uint32_t(bits & 0x7FFF) << 13, sign = uint32_t(bits & 0x8000) << 16;
    const uint32_t finite = device::float_bits(device::float_from_bits(magnitude) * 0x1p112f);
    return device::float_from_bits(sign | ((bits & 0x7C00) == 0x7C00 ? magnitude | 0x7F800000 : finite));
  }
  Half& operator=(float value) {
    bits = uint16_t(device::to_half(value));
    return *this;
  }
};

struct Bfloat {
  uint16_t bits;

  operator float() const { return device::from_bfloat(bits); }
  Bfloat& operator=(float value) {
    bits = uint16_t(device::to_bfloat(value));
    return *this;
  }
};

struct Q8Block {
  Half scale;
  int8_t numbers[q8_0_block];
};
static_assert(sizeof(Q8Block) == q8_0_block_bytes);

template <class T>
T* numbers_of(const Tensor& tensor) {
  return reinterpret_cast<T*>(tensor.memory()->host + tensor.offset());
}

// Calls work(T{}) with the type of activations.
template <class Work>
void with_type(TensorType type, const Work& work) {
  switch (type) {
    case TensorType::f16:
      return work(Half{});
    case TensorType::bf16:
      return work(Bfloat{});
    default:
      return work(float{});
  }
}

// A few numbers of a row, from `first` on, as floats. Of Q8_0, these are whole blocks.
inline void load(const Tensor& tensor, size_t row, size_t first, size_t count, float* into) {
  const size_t start = row * tensor.columns() + first;
  if (tensor.type() == TensorType::q8_0) {
    const Q8Block* blocks = numbers_of<const Q8Block>(tensor) + start / q8_0_block;
    for (size_t i = 0; i < count; i += q8_0_block, ++blocks) {
      const float scale = blocks->scale;
      for (size_t k = 0; k < q8_0_block; ++k) into[i + k] = scale * float(blocks->numbers[k]);
    }
    return;
  }
  with_type(tensor.type(), [&]<class T>(T) {
    const T* numbers = numbers_of<const T>(tensor) + start;
    for (size_t i = 0; i < count; ++i) into[i] = numbers[i];
  });
}

}  // namespace metalloid::transformer
