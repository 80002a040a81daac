// Gradients against differences of the operation itself in float64: (f(x + h) - f(x - h)) / 2h, which is off by some
// h² f''' and by the rounding of f / h. With h = 1e-5 and numbers near 1 both are below 1e-9.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "backend_program.hpp"

namespace metalloid::transformer {
namespace {

using Values = std::vector<double>;

// Of the sum of all results times what comes back to each.
Values differences(const std::function<Values(const Values&)>& operation, const Values& at, const Values& gradient) {
  constexpr double h = 1e-5;
  Values result(at.size()), moved = at;
  const auto sum = [&] {
    const Values found = operation(moved);
    double total = 0;
    for (size_t i = 0; i < found.size(); ++i) total += found[i] * gradient[i];
    return total;
  };
  for (size_t i = 0; i < at.size(); ++i) {
    moved[i] = at[i] + h;
    const double above = sum();
    moved[i] = at[i] - h;
    result[i] = (above - sum()) / (2 * h);
    moved[i] = at[i];
  }
  return result;
}

constexpr size_t widths[] = {1, 31, 64, 131};

using Gradients = BackendTest;
INSTANTIATE_BACKEND_TEST(Gradients);

TEST_P(Gradients, OfRmsnorm) {
  for (const TensorType type : float_types)
    for (const TensorType weights_type : {TensorType::f32, type})
      for (const size_t columns : widths)
        for (const bool add : {false, true}) {
          const Numbers x = random(type, {3, columns}), weights = random(weights_type, {columns}, 0.5, 2),
                        gradient = random(type, {3, columns}), before = random(type, {3, columns});
          const auto operation = [&](const Values& values) {
            Values result(values.size());
            for (size_t row = 0; row < 3; ++row) {
              double squares = 0;
              for (size_t i = 0; i < columns; ++i) squares += values[row * columns + i] * values[row * columns + i];
              for (size_t i = 0; i < columns; ++i)
                result[row * columns + i] =
                    values[row * columns + i] / std::sqrt(squares / double(columns) + 0.1) * weights.values[i];
            }
            return result;
          };
          Values expected = differences(operation, x.values, gradient.values);
          for (size_t i = 0; add && i < expected.size(); ++i) expected[i] += before.values[i];
          backend->rmsnorm_gradient(x.tensor, weights.tensor, 0.1f, gradient.tensor, before.tensor, add);
          expect_near(before.tensor, expected, 1e-5, "rmsnorm_gradient");  // sums of a hundred floats, results below 9
        }
}

Values softmax(Values row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& value : row) sum += value = std::exp(value - largest);
  for (double& value : row) value /= sum;
  return row;
}

TEST_P(Gradients, OfSoftmax) {
  for (const TensorType type : float_types)
    for (const size_t columns : widths) {
      const Numbers p = random(type, {columns}, 0.1, 1), gradient = random(type, {columns});
      Values expected(columns);
      double mean = 0;
      for (size_t i = 0; i < columns; ++i) mean += p.values[i] * gradient.values[i];
      for (size_t i = 0; i < columns; ++i) expected[i] = 0.5 * p.values[i] * (gradient.values[i] - mean);
      const Tensor result = backend->tensor(type, {columns});
      backend->softmax_gradient(p.tensor, gradient.tensor, result, 0.5f);
      expect_near(result, expected, 1e-5, "softmax_gradient");
    }
  // The formula is the gradient.
  const Values logits = {0.5, -1, 2, 0}, gradient = {1, -2, 0.5, 3}, p = softmax(logits);
  double mean = 0;
  for (size_t i = 0; i < 4; ++i) mean += p[i] * gradient[i];
  const Values found = differences(softmax, logits, gradient);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], p[i] * (gradient[i] - mean), 1e-9);
}

TEST_P(Gradients, OfSoftmaxAreZeroWhereProbabilitiesAre) {
  const Tensor gradient = of_floats({INFINITY, 1, 3, -INFINITY}, {4});
  backend->softmax_gradient(of_floats({0, 0.5f, 0.5f, 0}, {4}), gradient, gradient);
  expect_near(gradient, {0, -0.5, 0.5, 0}, 0, "softmax_gradient");
}

TEST_P(Gradients, OfSiluTimesUpInPlace) {
  for (const TensorType type : float_types)
    for (const size_t columns : widths) {
      const Numbers gate = random(type, {3, columns}, -6, 6), up = random(type, {3, columns}, -2, 2),
                    gradient = random(type, {3, columns});
      const auto product = [](const Values& g, const Values& u) {
        Values result(g.size());
        for (size_t i = 0; i < g.size(); ++i) result[i] = g[i] / (1 + std::exp(-g[i])) * u[i];
        return result;
      };
      const Values of_gate = differences([&](const Values& g) { return product(g, up.values); }, gate.values,
                                         gradient.values),
                   of_up = differences([&](const Values& u) { return product(gate.values, u); }, up.values,
                                       gradient.values);
      backend->fused_silu_mul_gradient(gate.tensor, up.tensor, gradient.tensor, gate.tensor, up.tensor);
      expect_near(gate.tensor, of_gate, 1e-5, "gate");  // a few roundings of numbers up to 12
      expect_near(up.tensor, of_up, 1e-5, "up");
    }
}

TEST_P(Gradients, OfTurningTurnBack) {
  for (const RopePairs pairs : {RopePairs::Neighbours, RopePairs::Halves}) {
    const std::vector<float> frequencies = rope_frequencies(10);
    std::vector<float> back = frequencies;
    for (float& frequency : back) frequency = -frequency;
    const Numbers x = random(TensorType::f32, {3, 4, 10}), gradient = random(TensorType::f32, {3, 4, 10});
    const auto turn = [&](const Values& values) {
      Values turned = values;
      for (size_t row = 0; row < 12; ++row)
        for (size_t i = 0; i < 5; ++i) {
          const size_t a = row * 10 + (pairs == RopePairs::Neighbours ? 2 * i : i),
                       b = row * 10 + (pairs == RopePairs::Neighbours ? 2 * i + 1 : i + 5);
          const double angle = double(7 + row / 4) * frequencies[i];
          turned[a] = values[a] * std::cos(angle) - values[b] * std::sin(angle);
          turned[b] = values[a] * std::sin(angle) + values[b] * std::cos(angle);
        }
      return turned;
    };
    const Values expected = differences(turn, x.values, gradient.values);
    backend->rope(gradient.tensor, 7, of_floats(back, {5}), pairs);
    expect_near(gradient.tensor, expected, 4e-6, "rope");  // an angle of up to 9 has an error of 2^-21
  }
}

struct Case {
  size_t tokens, position, heads, kv_heads, size, capacity;
};

Values attention(const Case& c, const Values& q, const Values& k, const Values& v) {
  Values result(c.tokens * c.heads * c.size);
  for (size_t token = 0; token < c.tokens; ++token)
    for (size_t head = 0; head < c.heads; ++head) {
      const size_t kv_head = head / (c.heads / c.kv_heads), query = (token * c.heads + head) * c.size;
      Values scores;
      for (size_t i = 0; i <= c.position + token; ++i) {
        double sum = 0;
        for (size_t j = 0; j < c.size; ++j) sum += q[query + j] * k[(i * c.kv_heads + kv_head) * c.size + j];
        scores.push_back(sum / std::sqrt(double(c.size)));
      }
      scores = softmax(scores);
      for (size_t i = 0; i < scores.size(); ++i)
        for (size_t j = 0; j < c.size; ++j) result[query + j] += scores[i] * v[(i * c.kv_heads + kv_head) * c.size + j];
    }
  return result;
}

TEST_P(Gradients, OfAttention) {
  for (const TensorType type : float_types)
    for (const Case& c : {Case{1, 0, 1, 1, 1, 1}, {5, 0, 4, 2, 8, 5}, {7, 3, 3, 1, 11, 12}, {2, 9, 2, 2, 33, 11}}) {
      const Numbers q = random(type, {c.tokens, c.heads, c.size}), gradient = random(type, {c.tokens, c.heads, c.size}),
                    k = random(type, {c.capacity, c.kv_heads, c.size}),
                    v = random(type, {c.capacity, c.kv_heads, c.size});
      const Tensor of_q = backend->tensor(type, q.tensor.shape()), of_k = backend->tensor(type, k.tensor.shape()),
                   of_v = backend->tensor(type, k.tensor.shape());
      backend->attention_gradient(q.tensor, k.tensor, v.tensor, c.position, gradient.tensor, of_q, of_k, of_v);
      const Values expected_q =
          differences([&](const Values& x) { return attention(c, x, k.values, v.values); }, q.values, gradient.values);
      Values expected_k =
          differences([&](const Values& x) { return attention(c, q.values, x, v.values); }, k.values, gradient.values);
      Values expected_v =
          differences([&](const Values& x) { return attention(c, q.values, k.values, x); }, v.values, gradient.values);
      const size_t length = c.position + c.tokens;
      expected_k.resize(length * c.kv_heads * c.size);
      expected_v.resize(length * c.kv_heads * c.size);
      // Probabilities and the gradients of scores, which are below 3, are rounded to the type, and the sums of a head
      // or of all tokens have some twenty of them.
      const double error = 1e-5 + 60 * (type == TensorType::f32 ? 0 : rounding_of(type)) / std::sqrt(double(c.size));
      const std::string what = fmt::format("{}, {} tokens at {}", name_of(type), c.tokens, c.position);
      expect_near(of_q, expected_q, error, "queries, " + what);
      expect_near(of_k.slice(0, length), expected_k, error, "keys, " + what);
      expect_near(of_v.slice(0, length), expected_v, error, "values, " + what);
    }
}

TEST_P(Gradients, OfCrossEntropyAndItsLosses) {
  for (const TensorType type : float_types)
    for (const size_t columns : {1, 33, 517}) {
      const Numbers logits = random(type, {4, columns}, -4, 4);
      const std::vector<int32_t> targets = {0, int32_t(columns) - 1, -1, int32_t(columns / 2)};
      const auto loss = [&](const Values& x) {
        Values losses;
        for (size_t row = 0; row < 4; ++row) {
          const Values p = softmax({x.begin() + ptrdiff_t(row * columns), x.begin() + ptrdiff_t((row + 1) * columns)});
          losses.push_back(targets[row] < 0 ? 0 : -std::log(p[size_t(targets[row])]));
        }
        return losses;
      };
      const Values expected = differences(loss, logits.values, Values(4, 0.25));
      const Tensor alone = backend->tensor(TensorType::f32, {4}), losses = backend->tensor(TensorType::f32, {4});
      backend->cross_entropy(logits.tensor, of_integers(targets), alone);
      backend->cross_entropy(logits.tensor, of_integers(targets), losses, logits.tensor, 0.25f);
      // Logarithms of sums of up to 500 floats, and differences of numbers below 8.
      expect_near(alone, loss(logits.values), 4e-6, "losses alone");
      expect_near(losses, loss(logits.values), 4e-6, "losses");
      expect_near(logits.tensor, expected, 1e-6, "gradient");
    }
}

TEST_P(Gradients, HaveANorm) {
  for (const TensorType type : float_types)
    for (const size_t columns : widths) {
      const Numbers x = random(type, {5, columns}, -3, 3);
      Values expected(5);
      for (size_t i = 0; i < x.values.size(); ++i) expected[i / columns] += x.values[i] * x.values[i];
      for (double& value : expected) value = std::sqrt(value);
      const Tensor result = backend->tensor(TensorType::f32, {5});
      backend->norms(x.tensor, result);
      expect_near(result, expected, 1e-5, "norms");
    }
}

TEST_P(Gradients, MakeStepsOfAdam) {
  const Numbers parameters = random(TensorType::f32, {3, 67}), first = random(TensorType::f32, {3, 67}, 0, 0),
                second = random(TensorType::f32, {3, 67}, 0, 0);
  Values p = parameters.values, m = first.values, v = second.values;
  for (size_t number = 1; number <= 3; ++number) {
    const Numbers gradients = random(TensorType::f32, {3, 67});
    backend->adam(parameters.tensor, gradients.tensor, first.tensor, second.tensor,
                  {.number = number, .rate = 0.1f, .weight_decay = 0.01f, .gradient_scale = 0.5f});
    for (size_t i = 0; i < p.size(); ++i) {
      const double g = 0.5 * gradients.values[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const double n = double(number);
      p[i] -= 0.1 * (m[i] / (1 - std::pow(0.9, n)) / (std::sqrt(v[i] / (1 - std::pow(0.999, n))) + 1e-8) + 0.01 * p[i]);
    }
    // Steps of 0.1 with a dozen roundings.
    expect_near(parameters.tensor, p, 3e-7, fmt::format("step {}", number));
  }
}

TEST_P(Gradients, NameTheArgumentThatDoesNotFit) {
  const auto tensor = [&](std::vector<size_t> shape) { return backend->tensor(TensorType::f32, std::move(shape)); };
  const auto error = [&] {
    const Status done = backend->finish();
    return done ? "" : done.error();
  };
  backend->rmsnorm_gradient(tensor({2, 3}), tensor({3}), 1e-5f, tensor({3, 2}), tensor({2, 3}));
  EXPECT_EQ(error(), "rmsnorm_gradient: gradient has the shape [3, 2], and x has [2, 3]");
  const Tensor q = tensor({2, 2, 8}), k = tensor({4, 2, 8});
  backend->attention_gradient(q, k, k, 0, tensor({2, 2, 8}), tensor({2, 2, 8}), k, tensor({4, 2, 8}));
  EXPECT_EQ(error(), "attention_gradient: the result overlaps keys");
  backend->cross_entropy(tensor({2, 3}), of_integers({1}), tensor({2}));
  EXPECT_EQ(error(), "cross_entropy: targets are 1, and logits have 2 rows");
  backend->norms(tensor({2, 3}), tensor({3}));
  EXPECT_EQ(error(), "norms: result has the shape [3], and x has 2 rows");
  backend->adam(tensor({2}), tensor({2}), tensor({2}), tensor({3}), {});
  EXPECT_EQ(error(), "adam: second has the shape [3], and parameters has [2]");
}

}  // namespace
}  // namespace metalloid::transformer
