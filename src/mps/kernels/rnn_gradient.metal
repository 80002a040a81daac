// One step back through a recurrent layer: from the gradient of its output to those of its gates' sums. `outputs_back`
// has what later steps want of this step's output, and gets what does not go through a product on its way to the step
// before; `cells_back` likewise has that of memory cells.
#include "rnn.h"

template <typename T>
kernel void rnn_single_gate_gradient(device const float* gates [[buffer(0)]], device float* gates_back [[buffer(1)]],
                                     device float* outputs_back [[buffer(2)]], device const T* gradient [[buffer(3)]],
                                     constant Step& step [[buffer(4)]], uint2 position [[thread_position_in_grid]]) {
  const ulong place = ulong(position.y) * step.outputs + position.x;
  const bool runs = position.y < step.rows;
  float back = outputs_back[place];
  if (runs) back += float(gradient[position.y * step.row + position.x]);
  gates_back[place] = runs ? back * slope_of(neuron_0, gates[place], step.neurons[0]) : 0;
  if (has_ended_rows) outputs_back[place] = runs ? 0 : back;
}

// The proposed output's sum, and what z wants apart from Vh.
template <typename T>
kernel void rnn_gru_output_gradient(device const float* gates [[buffer(0)]], device float* gates_back [[buffer(1)]],
                                    device const float* old_outputs [[buffer(2)]],
                                    device float* outputs_back [[buffer(3)]], device const T* gradient [[buffer(4)]],
                                    constant Step& step [[buffer(5)]], uint2 position [[thread_position_in_grid]]) {
  const ulong place = ulong(position.y) * step.outputs + position.x;
  const uint n = step.outputs;
  const bool runs = position.y < step.rows;
  const ulong own = ulong(position.y) * 3 * n + position.x;
  float back = outputs_back[place];
  if (runs) back += float(gradient[position.y * step.row + position.x]);
  const float z = value_of(neuron_0, gates[own], step.neurons[0]), proposal = gates[own + 2 * n];
  const float h = value_of(neuron_2, proposal, step.neurons[2]), h0 = old_outputs[place];
  const float q = other_gate(z, step.p), slope = other_gate_slope(z, step.p);
  const float h_back = back * (flipped ? z : q);
  const float z_back = back * (flipped ? h + slope * h0 : h0 + slope * h);
  gates_back[own] = runs ? z_back : 0;
  gates_back[own + 2 * n] = runs ? h_back * slope_of(neuron_2, proposal, step.neurons[2]) : 0;
  outputs_back[place] = !runs ? back : back * (flipped ? q : z);
}

kernel void rnn_gru_gates_gradient(device const float* gates [[buffer(0)]], device float* gates_back [[buffer(1)]],
                                   device const float* old_outputs [[buffer(2)]],
                                   device const float* gated_back [[buffer(3)]],
                                   device const float* input_gated_back [[buffer(4)]],
                                   device float* outputs_back [[buffer(5)]], constant Step& step [[buffer(6)]],
                                   uint2 position [[thread_position_in_grid]]) {
  const ulong place = ulong(position.y) * step.outputs + position.x;
  const uint n = step.outputs;
  const bool runs = position.y < step.rows;
  const ulong own = ulong(position.y) * 3 * n + position.x;
  const float h0 = old_outputs[place], r_h0_back = gated_back[place];
  const float z_h0_back = has_memory_weights ? input_gated_back[place] : 0.0f;
  const float z = gates[own], r = gates[own + n];
  const float z_back = gates_back[own] + z_h0_back * h0;
  gates_back[own] = runs ? z_back * slope_of(neuron_0, z, step.neurons[0]) : 0;
  gates_back[own + n] = runs ? r_h0_back * h0 * slope_of(neuron_1, r, step.neurons[1]) : 0;
  if (runs)
    outputs_back[place] +=
        r_h0_back * value_of(neuron_1, r, step.neurons[1]) + z_h0_back * value_of(neuron_0, z, step.neurons[0]);
}

template <typename T>
kernel void rnn_lstm_gradient(device const float* gates [[buffer(0)]], device float* gates_back [[buffer(1)]],
                              device const float* diagonals [[buffer(2)]], device const float* old_cells [[buffer(3)]],
                              device const float* cells [[buffer(4)]], device float* outputs_back [[buffer(5)]],
                              device float* cells_back [[buffer(6)]], device const T* gradient [[buffer(7)]],
                              constant Step& step [[buffer(8)]], uint2 position [[thread_position_in_grid]]) {
  const ulong place = ulong(position.y) * step.outputs + position.x;
  const uint n = step.outputs;
  const bool runs = position.y < step.rows;
  const ulong own = ulong(position.y) * 4 * n + position.x;
  diagonals += position.x;
  float c1_back = cells_back[place];
  if (part != 2) {
    float back = outputs_back[place];
    if (runs) back += float(gradient[position.y * step.row + position.x]);
    const float c1 = kept(neuron_of_cells, cells[place], step.of_cells), o = gates[own + 3 * n];
    const float o_back = runs ? back * value_of(neuron_of_cells, c1, step.of_cells) *
                                    slope_of(neuron_3, o, step.neurons[3])
                              : 0;
    gates_back[own + 3 * n] = o_back;
    if (has_ended_rows) outputs_back[place] = runs ? 0 : back;
    if (runs) {
      c1_back += back * value_of(neuron_3, o, step.neurons[3]) * slope_of(neuron_of_cells, c1, step.of_cells);
      if (has_memory_weights) c1_back += o_back * diagonals[3 * n];
    }
    if (part == 1) {
      cells_back[place] = c1_back;
      return;
    }
  }
  const float i = gates[own], f = gates[own + n], c = gates[own + 2 * n], c0 = old_cells[place];
  const float c_back = runs ? c1_back : 0;
  const float i_back =
      c_back * value_of(neuron_2, c, step.neurons[2]) * slope_of(neuron_0, i, step.neurons[0]);
  const float f_back = c_back * c0 * slope_of(neuron_1, f, step.neurons[1]);
  const float proposal_back =
      c_back * value_of(neuron_0, i, step.neurons[0]) * slope_of(neuron_2, c, step.neurons[2]);
  gates_back[own] = i_back;
  gates_back[own + n] = f_back;
  gates_back[own + 2 * n] = proposal_back;
  float c0_back = c1_back * value_of(neuron_1, f, step.neurons[1]);
  if (has_memory_weights)
    c0_back += i_back * diagonals[0] + f_back * diagonals[n] + proposal_back * diagonals[2 * n];
  cells_back[place] = runs ? c0_back : c1_back;
}

#define GRADIENT(T)                                                                                                    \
  template [[host_name("rnn_single_gate_gradient_" #T)]] kernel void rnn_single_gate_gradient<T>(                      \
      device const float*, device float*, device float*, device const T*, constant Step&, uint2);                      \
  template [[host_name("rnn_gru_output_gradient_" #T)]] kernel void rnn_gru_output_gradient<T>(                        \
      device const float*, device float*, device const float*, device float*, device const T*, constant Step&, uint2); \
  template [[host_name("rnn_lstm_gradient_" #T)]] kernel void rnn_lstm_gradient<T>(                                    \
      device const float*, device float*, device const float*, device const float*, device const float*,               \
      device float*, device float*, device const T*, constant Step&, uint2);
METAL_EACH_FLOAT(GRADIENT)
