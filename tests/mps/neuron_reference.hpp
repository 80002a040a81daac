// Neurons in float64.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <algorithm>
#include <cmath>

namespace metalloid::mps {

inline double neuron_reference(MPS::CNNNeuronType type, double x, double a, double b, double c) {
  switch (type) {
    case MPS::CNNNeuronTypeReLU:
    case MPS::CNNNeuronTypePReLU:
      return x >= 0 ? x : a * x;
    case MPS::CNNNeuronTypeLinear:
      return a * x + b;
    case MPS::CNNNeuronTypeSigmoid:
      return 1 / (1 + std::exp(-x));
    case MPS::CNNNeuronTypeHardSigmoid:
      return std::clamp(a * x + b, 0.0, 1.0);
    case MPS::CNNNeuronTypeTanH:
      return a * std::tanh(b * x);
    case MPS::CNNNeuronTypeAbsolute:
      return std::abs(x);
    case MPS::CNNNeuronTypeSoftPlus:
      return a * std::log1p(std::exp(b * x));
    case MPS::CNNNeuronTypeSoftSign:
      return x / (1 + std::abs(x));
    case MPS::CNNNeuronTypeELU:
      return x >= 0 ? x : a * std::expm1(x);
    case MPS::CNNNeuronTypeReLUN:
      return std::min(x >= 0 ? x : a * x, b);
    case MPS::CNNNeuronTypePower:
      return std::pow(a * x + b, c);
    case MPS::CNNNeuronTypeExponential:
      return std::pow(c, a * x + b);
    case MPS::CNNNeuronTypeLogarithm:
      return std::log(a * x + b) / std::log(c);
    case MPS::CNNNeuronTypeGeLU:
      return x * (1 + std::erf(x * std::sqrt(0.5))) / 2;
    default:
      return x;
  }
}

// By the difference of neighbours, which is good to 1e-9 or so.
inline double neuron_slope_reference(MPS::CNNNeuronType type, double x, double a, double b, double c) {
  constexpr double step = 1e-6;
  return (neuron_reference(type, x + step, a, b, c) - neuron_reference(type, x - step, a, b, c)) / (2 * step);
}

}  // namespace metalloid::mps
