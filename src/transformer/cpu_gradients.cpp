#include "transformer/cpu_gradients.hpp"

#include "transformer/cpu_rows.hpp"

namespace metalloid::transformer::cpu {

// With r = 1 / sqrt(mean(x²) + epsilon): r weights gradient - x r³ mean(weights gradient x).
void rmsnorm_gradient(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& gradient,
                      const Tensor& result, bool add) {
  const std::vector<float> factors = row_of(weights.reshape({weights.count()}), 0);
  each_row(x.rows(), [&](size_t i) {
    const std::vector<float> row = row_of(x, i);
    std::vector<float> out = row_of(gradient, i);
    for (size_t j = 0; j < out.size(); ++j) out[j] *= factors[j];
    const float r = 1 / std::sqrt(dot(row.data(), row.data(), row.size()) / float(row.size()) + epsilon);
    const float along = r * r * r * dot(row.data(), out.data(), row.size()) / float(row.size());
    for (size_t j = 0; j < out.size(); ++j) out[j] = r * out[j] - along * row[j];
    if (add) {
      const std::vector<float> before = row_of(result, i);
      for (size_t j = 0; j < out.size(); ++j) out[j] += before[j];
    }
    store(result, i, out);
  });
}

void softmax_gradient(const Tensor& probabilities, const Tensor& gradient, float scale, const Tensor& result) {
  each_row(probabilities.rows(), [&](size_t i) {
    const std::vector<float> p = row_of(probabilities, i);
    std::vector<float> out = row_of(gradient, i);
    for (size_t j = 0; j < p.size(); ++j)
      if (p[j] == 0) out[j] = 0;
    const float mean = dot(p.data(), out.data(), p.size());
    for (size_t j = 0; j < p.size(); ++j) out[j] = scale * p[j] * (out[j] - mean);
    store(result, i, out);
  });
}

void fused_silu_mul_gradient(const Tensor& gate, const Tensor& up, const Tensor& gradient, const Tensor& gate_gradient,
                             const Tensor& up_gradient) {
  each_row(gate.rows(), [&](size_t i) {
    std::vector<float> g = row_of(gate, i), u = row_of(up, i);
    const std::vector<float> from = row_of(gradient, i);
    for (size_t j = 0; j < g.size(); ++j) {
      const float sigmoid = 1 / (1 + std::exp(-g[j])), silu = g[j] * sigmoid;
      g[j] = from[j] * u[j] * (sigmoid + silu * (1 - sigmoid));
      u[j] = from[j] * silu;
    }
    store(gate_gradient, i, g);
    store(up_gradient, i, u);
  });
}

void weighted_sum_gradient(const Tensor& scores, const Tensor& gradient, const AttentionShape& shape,
                           const Tensor& result) {
  const size_t group = shape.heads / shape.kv_heads, length = shape.length();
  const Tensor queries = gradient.reshape({shape.tokens, shape.heads, shape.size});
  each_row(length * shape.kv_heads, [&](size_t row) {
    const size_t i = row / shape.kv_heads, kv_head = row % shape.kv_heads;
    std::vector<float> sums(shape.size);
    for (size_t head = kv_head * group; head < (kv_head + 1) * group; ++head)
      for (size_t token = i > shape.position ? i - shape.position : 0; token < shape.tokens; ++token) {
        float score;
        load(scores, head * shape.tokens + token, i, 1, &score);
        const std::vector<float> from = head_of(queries, token, head);
        for (size_t j = 0; j < sums.size(); ++j) sums[j] += score * from[j];
      }
    store(result, row, sums);
  });
}

void cross_entropy(const Tensor& logits, const Tensor& targets, float scale, const Tensor& losses,
                   const Tensor& gradient) {
  const int32_t* target = numbers_of<const int32_t>(targets);
  float* loss = numbers_of<float>(losses);
  each_row(logits.rows(), [&](size_t i) {
    std::vector<float> row = row_of(logits, i);
    if (target[i] < 0 || size_t(target[i]) >= row.size()) {
      loss[i] = 0;
      if (gradient) store(gradient, i, std::vector<float>(row.size()));
      return;
    }
    const float largest = *std::max_element(row.begin(), row.end()), of_target = row[size_t(target[i])];
    float sum = 0;
    for (float& number : row) sum += number = std::exp(number - largest);
    loss[i] = largest - of_target + std::log(sum);
    if (!gradient) return;
    for (float& number : row) number *= scale / sum;
    row[size_t(target[i])] -= scale;
    store(gradient, i, row);
  });
}

void norms(const Tensor& x, const Tensor& result) {
  float* norm = numbers_of<float>(result);
  each_row(x.rows(), [&](size_t i) {
    const std::vector<float> row = row_of(x, i);
    norm[i] = std::sqrt(dot(row.data(), row.data(), row.size()));
  });
}

void adam(const Tensor& parameters, const Tensor& gradients, const Tensor& first, const Tensor& second,
          const AdamFactors& factors) {
  float *p = numbers_of<float>(parameters), *m = numbers_of<float>(first), *v = numbers_of<float>(second);
  const float* g = numbers_of<const float>(gradients);
  for (size_t i = 0; i < parameters.count(); ++i) {
    const float from = factors.gradient * g[i];
    m[i] = factors.keep_first * m[i] + factors.take_first * from;
    v[i] = factors.keep_second * v[i] + factors.take_second * from * from;
    p[i] -= factors.rate * m[i] / (std::sqrt(v[i]) + factors.epsilon) + factors.decay * p[i];
  }
}

}  // namespace metalloid::transformer::cpu
