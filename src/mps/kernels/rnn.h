// What kernels of recurrent layers share. Matrices of a layer are of float and have no gaps; a thread has one output
// channel of one sequence. Rows from step.rows on are sequences that have ended: what they had passes through.
#pragma once

#include "neuron.h"

constant uint neuron_0 [[function_constant(0)]];  // of the gates, in the order of the weights
constant uint neuron_1 [[function_constant(1)]];
constant uint neuron_2 [[function_constant(2)]];
constant uint neuron_3 [[function_constant(3)]];
constant uint neuron_of_cells [[function_constant(4)]];
constant uint keeps [[function_constant(5)]];            // forward: gates, for the gradient
constant uint destination_gets [[function_constant(6)]];   // 0: nothing, 1: the output, 2: the output added
constant uint has_memory_weights [[function_constant(7)]];  // LSTM: diagonals; GRU: Vh
constant uint part [[function_constant(8)]];             // LSTM whose memory weights are not diagonal: 1, 2; else 0
constant uint flipped [[function_constant(9)]];
constant uint has_p_norm [[function_constant(10)]];      // other than 1
constant uint has_ended_rows [[function_constant(11)]];  // gradient

struct Step {
  uint outputs, rows;
  ulong row;  // stride of the matrix of the program's
  float p;
  NeuronParameters neurons[4], of_cells;
};

// What is kept of a gate: what gives value and slope with the least work.
inline float kept(uint type, float x, NeuronParameters p) {
  switch (type) {
    case neuron_sigmoid: return neuron(type, x, p);
    case neuron_tanh: return tanh(p.b * x);
    default: return x;
  }
}
inline float value_of(uint type, float kept, NeuronParameters p) {
  switch (type) {
    case neuron_sigmoid: return kept;
    case neuron_tanh: return p.a * kept;
    default: return neuron(type, kept, p);
  }
}
inline float slope_of(uint type, float kept, NeuronParameters p) {
  switch (type) {
    case neuron_sigmoid: return kept * (1 - kept);
    case neuron_tanh: return p.a * p.b * (1 - kept * kept);
    default: return neuron_slope(type, kept, p);
  }
}

// The other gate of a GRU, (1 - z^p)^(1/p), and its slope. That is infinite where z is 1 or, with p < 1, 0; a gate that
// has got there does not move, so what comes of both is 0.
inline float other_gate(float z, float p) {
  return has_p_norm ? pow(max(1 - pow(z, p), 0.0f), 1 / p) : 1 - z;
}
inline float other_gate_slope(float z, float p) {
  if (!has_p_norm) return -1;
  const float rest = 1 - pow(z, p);
  return rest > 0 && z != 0 ? -pow(z, p - 1) * pow(rest, 1 / p - 1) : 0;
}

template <typename T>
void put(device T* destination, float h, constant Step& step, uint2 position) {
  if (destination_gets == 0 || position.y >= step.rows) return;
  destination += position.y * step.row + position.x;
  *destination = T(destination_gets == 2 ? float(*destination) + h : h);
}
