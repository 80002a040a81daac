// A neuron as kernels are given it: its type is a constant of the kernel, its parameters an argument.
#pragma once

#include <MetalPerformanceShaders/MPSCNNNeuronType.hpp>
#include <metalloid/result.hpp>

namespace metalloid::mps {

struct NeuronParameters {  // as in kernels/neuron.h
  float a = 0, b = 0, c = 0;

  bool operator==(const NeuronParameters&) const = default;
};

struct Neuron {
  MPS::CNNNeuronType type = MPS::CNNNeuronTypeNone;
  NeuronParameters parameters;

  bool operator==(const Neuron&) const = default;
};

inline bool is_neuron_type(MPS::CNNNeuronType type) {
  return type >= MPS::CNNNeuronTypeNone && type < MPS::CNNNeuronTypeCount;
}

}  // namespace metalloid::mps
