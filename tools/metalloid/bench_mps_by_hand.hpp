// Neurons as one would write them by hand for this processor, with AVX-512: where arithmetic takes longer than memory,
// MPS is compared with these.
#pragma once

#include <cstddef>

namespace metalloid::tool {

// Of `count` numbers, a multiple of 64 on whole lines of the cache; with the parameters of the benchmark.
using HandNeuron = void (*)(const float* in, float* out, size_t count);

struct HandNeurons {
  HandNeuron sigmoid = nullptr, tanh = nullptr, elu = nullptr, gelu = nullptr;
};

// Only to be called where the processor has AVX-512; none where it was not compiled for.
HandNeurons hand_neurons();

}  // namespace metalloid::tool
