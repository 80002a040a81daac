// Rows of tensors as floats, for plain C++: read, worked on by all cores, and written back.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/sanitizers.hpp"
#include "transformer/cpu_numbers.hpp"
#include "transformer/cpu_ranges.hpp"

namespace metalloid::transformer {

inline float dot(const float* a, const float* b, size_t count) {
  float sum = 0;
  for (size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

inline float silu_of(float x) {
  return x / (1 + std::exp(-x));
}

// Exponentials whose total is 1.
inline void softmax_of(float* numbers, size_t count) {
  float largest = -std::numeric_limits<float>::infinity(), sum = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, numbers[i]);
  for (size_t i = 0; i < count; ++i) sum += numbers[i] = std::exp(numbers[i] - largest);
  for (size_t i = 0; i < count; ++i) numbers[i] /= sum;
}

inline std::vector<float> row_of(const Tensor& tensor, size_t row) {
  std::vector<float> numbers(tensor.columns());
  load(tensor, row, 0, numbers.size(), numbers.data());
  return numbers;
}

inline void store(const Tensor& tensor, size_t row, const std::vector<float>& numbers) {
  with_type(tensor.type(), [&]<class T>(T) {
    T* place = numbers_of<T>(tensor) + row * numbers.size();
    for (size_t i = 0; i < numbers.size(); ++i) place[i] = numbers[i];
  });
}

// A head's numbers in [tokens][heads][size].
inline std::vector<float> head_of(const Tensor& tensor, size_t token, size_t head) {
  return row_of(tensor, token * tensor.shape()[1] + head);
}

template <class Work>
void each_row(size_t rows, Work work) {
  metalloid::cpu::hand_over(&work);
  run_ranges(
      rows,
      [](void* work, size_t first, size_t last) {
        metalloid::cpu::take_over(work);
        for (size_t row = first; row < last; ++row) (*static_cast<const Work*>(work))(row);
        metalloid::cpu::hand_over(work);
      },
      &work);
  metalloid::cpu::take_over(&work);
}

}  // namespace metalloid::transformer
