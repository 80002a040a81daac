// Neurons and their derivatives. The type is a constant of the kernel, so that each pipeline has the code of one.
#pragma once

#include "functions_by_table.h"
#include "short_functions.h"

struct NeuronParameters {
  float a, b, c;
};

enum NeuronType : uint {
  neuron_none,
  neuron_relu,
  neuron_linear,
  neuron_sigmoid,
  neuron_hard_sigmoid,
  neuron_tanh,
  neuron_absolute,
  neuron_soft_plus,
  neuron_soft_sign,
  neuron_elu,
  neuron_prelu,
  neuron_relu_n,
  neuron_power,
  neuron_exponential,
  neuron_logarithm,
  neuron_gelu,
  neuron_tanh_by_table = 32,  // the same two, for processors that look up fast
  neuron_gelu_by_table,
};

inline float sigmoid(float x) { return 1 / (1 + fast::exp(-x)); }

// Both sides are always computed: that is faster than to branch.
inline float exponential_linear_unit(float x, float a) {
  const float below = a * exp_of_negative_minus_1(x);
  return x >= 0 ? x : below;
}

inline float neuron(uint type, float x, NeuronParameters p) {
  switch (type) {
    case neuron_relu:
    case neuron_prelu: return x >= 0 ? x : p.a * x;
    case neuron_linear: return p.a * x + p.b;
    case neuron_sigmoid: return sigmoid(x);
    case neuron_hard_sigmoid: return clamp(p.a * x + p.b, 0.0f, 1.0f);
    case neuron_tanh: return scaled_hyperbolic_tangent(p.b * x, p.a);
    case neuron_absolute: return abs(x);
    // log(1 + e^y) = max(y, 0) + log(1 + e^-|y|), which does not overflow.
    case neuron_soft_plus: return p.a * (max(p.b * x, 0.0f) + log(1 + exp(-abs(p.b * x))));
    case neuron_soft_sign: return x / (1 + abs(x));
    case neuron_elu: return exponential_linear_unit(x, p.a);
    case neuron_relu_n: return min(x >= 0 ? x : p.a * x, p.b);
    case neuron_power: return pow(p.a * x + p.b, p.c);
    case neuron_exponential: return pow(p.c, p.a * x + p.b);
    case neuron_logarithm: return log(p.a * x + p.b) / log(p.c);
    case neuron_gelu: return x * normal_distribution(x);
    case neuron_tanh_by_table: return hyperbolic_tangent_by_table(x, p.a, p.b);
    case neuron_gelu_by_table: return gelu_by_table(x);
    default: return x;
  }
}

// Its derivative at x.
inline float neuron_slope(uint type, float x, NeuronParameters p) {
  switch (type) {
    case neuron_relu:
    case neuron_prelu: return x >= 0 ? 1 : p.a;
    case neuron_linear: return p.a;
    case neuron_sigmoid: {
      const float y = sigmoid(x);
      return y * (1 - y);
    }
    case neuron_hard_sigmoid: {
      const float y = p.a * x + p.b;
      return y > 0 && y < 1 ? p.a : 0;
    }
    case neuron_tanh: {
      const float y = scaled_hyperbolic_tangent(p.b * x, 1);
      return p.a * p.b * (1 - y * y);
    }
    case neuron_absolute: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case neuron_soft_plus: return p.a * p.b * sigmoid(p.b * x);
    case neuron_soft_sign: {
      const float y = 1 + abs(x);
      return 1 / (y * y);
    }
    case neuron_elu: return x >= 0 ? 1 : p.a * exp(x);
    case neuron_relu_n: {
      const float y = x >= 0 ? x : p.a * x;
      return y >= p.b ? 0 : x >= 0 ? 1 : p.a;
    }
    case neuron_power: return p.a * p.c * pow(p.a * x + p.b, p.c - 1);
    case neuron_exponential: return p.a * log(p.c) * pow(p.c, p.a * x + p.b);
    case neuron_logarithm: return p.a / ((p.a * x + p.b) * log(p.c));
    case neuron_gelu: return normal_distribution(x) + x * 0.39894228f * exp(-0.5f * x * x);
    default: return 1;
  }
}
