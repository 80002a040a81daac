// One step of a recurrent layer after the products: from the sums of its gates to its output. The sums have all but the
// biases in them, and the memory cells where those are weighted one by one.
#include "rnn.h"

template <typename T>
kernel void rnn_single_gate(device float* gates [[buffer(0)]], device const float* biases [[buffer(1)]],
                            device const float* old_outputs [[buffer(2)]], device float* outputs [[buffer(3)]],
                            device T* destination [[buffer(4)]], constant Step& step [[buffer(5)]],
                            uint2 position [[thread_position_in_grid]]) {
  const ulong place = ulong(position.y) * step.outputs + position.x;
  const bool runs = position.y < step.rows;
  const float gate = kept(neuron_0, gates[place] + biases[position.x], step.neurons[0]);
  const float h = runs ? value_of(neuron_0, gate, step.neurons[0]) : old_outputs[place];
  if (keeps) gates[place] = gate;
  outputs[place] = h;
  put(destination, h, step, position);
}

// The gates z and r, and what Uh and Vh are multiplied with.
kernel void rnn_gru_gates(device float* gates [[buffer(0)]], device const float* biases [[buffer(1)]],
                          device const float* old_outputs [[buffer(2)]], device float* gated [[buffer(3)]],
                          device float* input_gated [[buffer(4)]], constant Step& step [[buffer(5)]],
                          uint2 position [[thread_position_in_grid]]) {
  const ulong place = ulong(position.y) * step.outputs + position.x;
  const uint n = step.outputs;
  device float* own = gates + ulong(position.y) * 3 * n + position.x;
  const float z = kept(neuron_0, own[0] + biases[position.x], step.neurons[0]);
  const float r = kept(neuron_1, own[n] + biases[n + position.x], step.neurons[1]);
  const float h0 = old_outputs[place];
  own[0] = z;
  own[n] = r;
  gated[place] = value_of(neuron_1, r, step.neurons[1]) * h0;
  if (has_memory_weights) input_gated[place] = value_of(neuron_0, z, step.neurons[0]) * h0;
}

template <typename T>
kernel void rnn_gru_output(device float* gates [[buffer(0)]], device const float* biases [[buffer(1)]],
                           device const float* old_outputs [[buffer(2)]], device float* outputs [[buffer(3)]],
                           device T* destination [[buffer(4)]], constant Step& step [[buffer(5)]],
                           uint2 position [[thread_position_in_grid]]) {
  const ulong place = ulong(position.y) * step.outputs + position.x;
  const uint n = step.outputs;
  const bool runs = position.y < step.rows;
  device float* own = gates + ulong(position.y) * 3 * n + position.x;
  const float z = value_of(neuron_0, own[0], step.neurons[0]);
  const float proposal = kept(neuron_2, own[2 * n] + biases[2 * n + position.x], step.neurons[2]);
  const float h = value_of(neuron_2, proposal, step.neurons[2]), h0 = old_outputs[place];
  const float q = other_gate(z, step.p);
  const float h1 = !runs ? h0 : flipped ? q * h0 + z * h : q * h + z * h0;
  if (keeps) own[2 * n] = proposal;
  outputs[place] = h1;
  put(destination, h1, step, position);
}

template <typename T>
kernel void rnn_lstm(device float* gates [[buffer(0)]], device const float* biases [[buffer(1)]],
                     device const float* diagonals [[buffer(2)]], device const float* old_cells [[buffer(3)]],
                     device float* cells [[buffer(4)]], device const float* old_outputs [[buffer(5)]],
                     device float* outputs [[buffer(6)]], device T* destination [[buffer(7)]],
                     constant Step& step [[buffer(8)]], uint2 position [[thread_position_in_grid]]) {
  const ulong place = ulong(position.y) * step.outputs + position.x;
  const uint n = step.outputs;
  const bool runs = position.y < step.rows;
  device float* own = gates + ulong(position.y) * 4 * n + position.x;
  biases += position.x;
  diagonals += position.x;
  float c1;
  if (part != 2) {
    const float c0 = old_cells[place];
    float sum_i = own[0] + biases[0], sum_f = own[n] + biases[n], sum_c = own[2 * n] + biases[2 * n];
    if (has_memory_weights) {
      sum_i += diagonals[0] * c0;
      sum_f += diagonals[n] * c0;
      sum_c += diagonals[2 * n] * c0;
    }
    const float i = kept(neuron_0, sum_i, step.neurons[0]);
    const float f = kept(neuron_1, sum_f, step.neurons[1]);
    const float c = kept(neuron_2, sum_c, step.neurons[2]);
    c1 = runs ? value_of(neuron_1, f, step.neurons[1]) * c0 +
                    value_of(neuron_0, i, step.neurons[0]) * value_of(neuron_2, c, step.neurons[2])
              : c0;
    if (keeps) {
      own[0] = i;
      own[n] = f;
      own[2 * n] = c;
    }
    cells[place] = c1;
    if (part == 1) return;
  } else {
    c1 = cells[place];
  }
  float sum_o = own[3 * n] + biases[3 * n];
  if (has_memory_weights) sum_o += diagonals[3 * n] * c1;
  const float o = kept(neuron_3, sum_o, step.neurons[3]);
  const float h = runs ? value_of(neuron_3, o, step.neurons[3]) * neuron(neuron_of_cells, c1, step.of_cells)
                       : old_outputs[place];
  if (keeps) own[3 * n] = o;
  outputs[place] = h;
  put(destination, h, step, position);
}

#define FORWARD(T)                                                                                                     \
  template [[host_name("rnn_single_gate_" #T)]] kernel void rnn_single_gate<T>(                                        \
      device float*, device const float*, device const float*, device float*, device T*, constant Step&, uint2);       \
  template [[host_name("rnn_gru_output_" #T)]] kernel void rnn_gru_output<T>(                                          \
      device float*, device const float*, device const float*, device float*, device T*, constant Step&, uint2);       \
  template [[host_name("rnn_lstm_" #T)]] kernel void rnn_lstm<T>(                                                      \
      device float*, device const float*, device const float*, device const float*, device float*,                     \
      device const float*, device float*, device T*, constant Step&, uint2);
METAL_EACH_FLOAT(FORWARD)
