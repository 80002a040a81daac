// Optimizers: one number of the parameters for each thread. Which optimizer, and what is done with gradients before,
// are constants of the kernel. What an optimizer remembers is first, second and third: the momentum of gradient descent;
// the sum of squares; momentum, velocity and the largest velocity of Adam.
#include "rows.h"

constant uint optimizer [[function_constant(0)]];
constant uint regularization [[function_constant(1)]];
constant uint clips [[function_constant(2)]];

enum Optimizer : uint { optimizer_plain, optimizer_momentum, optimizer_nesterov, optimizer_rms_prop, optimizer_adam,
                        optimizer_ams_grad };
enum Regularization : uint { regularization_none, regularization_l1, regularization_l2 };

struct Update {
  float learning_rate, rescale, clip_min, clip_max, regularization_scale;
  float keep_first, add_first, keep_second, add_second, epsilon;
  RowStrides gradient, values, result, first, second, third;
};

inline ulong place(RowStrides strides, uint3 position) {
  return position.z * strides.matrix + position.y * strides.row + position.x;
}

// How much the value falls.
template <typename T>
float step(float g, device T* first, device T* second, device T* third, constant Update& u, uint3 position) {
  if (optimizer == optimizer_plain) return u.learning_rate * g;
  device T& remembered = first[place(u.first, position)];
  if (optimizer == optimizer_momentum) {
    const float m = u.keep_first * float(remembered) + u.learning_rate * g;
    remembered = T(m);
    return m;
  }
  if (optimizer == optimizer_nesterov) {
    const float m = u.keep_first * float(remembered) + g;
    remembered = T(m);
    return u.learning_rate * (g + m * u.keep_first);
  }
  if (optimizer == optimizer_rms_prop) {
    const float s = u.keep_first * float(remembered) + u.add_first * g * g;
    remembered = T(s);
    return u.learning_rate * g / (sqrt(s) + u.epsilon);
  }
  device T& velocity = second[place(u.second, position)];
  const float m = u.keep_first * float(remembered) + u.add_first * g;
  float v = u.keep_second * float(velocity) + u.add_second * g * g;
  remembered = T(m);
  velocity = T(v);
  if (optimizer == optimizer_ams_grad) {
    device T& largest = third[place(u.third, position)];
    v = max(float(largest), v);
    largest = T(v);
  }
  return u.learning_rate * m / (sqrt(v) + u.epsilon);
}

#define OPTIMIZER(T)                                                                                            \
  [[host_name("optimizer_" #T)]] kernel void optimizer_##T(                                                     \
      device const T* gradient [[buffer(0)]], device const T* values [[buffer(1)]], device T* result [[buffer(2)]], \
      device T* first [[buffer(3)]], device T* second [[buffer(4)]], device T* third [[buffer(5)]],             \
      constant Update& u [[buffer(6)]], uint3 position [[thread_position_in_grid]]) {                           \
    const float value = values[place(u.values, position)];                                                      \
    float g = gradient[place(u.gradient, position)];                                                            \
    if (clips) g = clamp(g, u.clip_min, u.clip_max);                                                            \
    g *= u.rescale;                                                                                             \
    if (regularization == regularization_l1) g += u.regularization_scale * sign(value);                         \
    if (regularization == regularization_l2) g += u.regularization_scale * value;                               \
    result[place(u.result, position)] = T(value - step(g, first, second, third, u, position));                  \
  }
METAL_EACH_FLOAT(OPTIMIZER)
