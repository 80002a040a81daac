#include <fmt/format.h>

#include <algorithm>

#include "backend_program.hpp"

namespace metalloid::transformer {
namespace {

struct Case {
  size_t tokens, position, heads, kv_heads, size, capacity;
};

constexpr Case cases[] = {
    {1, 0, 1, 1, 1, 1},     {1, 70, 6, 2, 33, 80}, {1, 300, 4, 4, 64, 301}, {5, 0, 4, 1, 48, 9},
    {37, 3, 3, 3, 100, 40}, {66, 0, 8, 2, 64, 66}, {3, 40, 2, 1, 256, 50},
};

using Attention = BackendTest;
INSTANTIATE_BACKEND_TEST(Attention);

double weight_of(const Case& c, const Numbers& q, const Numbers& k, size_t token, size_t head, size_t i) {
  double sum = 0;
  for (size_t j = 0; j < c.size; ++j)
    sum += q.at(token * c.heads + head, j) * k.at(i * c.kv_heads + head / (c.heads / c.kv_heads), j);
  return sum / std::sqrt(double(c.size));
}

TEST_P(Attention, IsTheSameStepByStepAndAtOnce) {
  for (const TensorType type : float_types)
    for (const Case& c : cases) {
      const Numbers q = random(type, {c.tokens, c.heads, c.size}, -3, 3);
      const Numbers k = random(type, {c.capacity, c.kv_heads, c.size});
      const Numbers v = random(type, {c.capacity, c.kv_heads, c.size});
      std::vector<double> expected;
      for (size_t token = 0; token < c.tokens; ++token)
        for (size_t head = 0; head < c.heads; ++head) {
          std::vector<double> weights, sums(c.size);
          for (size_t i = 0; i <= c.position + token; ++i) weights.push_back(weight_of(c, q, k, token, head, i));
          const double largest = *std::max_element(weights.begin(), weights.end());
          double total = 0;
          for (double& weight : weights) total += weight = std::exp(weight - largest);
          for (size_t i = 0; i < weights.size(); ++i)
            for (size_t j = 0; j < c.size; ++j)
              sums[j] += weights[i] / total * v.at(i * c.kv_heads + head / (c.heads / c.kv_heads), j);
          expected.insert(expected.end(), sums.begin(), sums.end());
        }
      const Tensor steps = backend->tensor(type, {c.tokens, c.heads, c.size});
      const Tensor flash = backend->tensor(type, {c.tokens, c.heads, c.size});
      backend->attention(q.tensor, k.tensor, v.tensor, c.position, steps);
      backend->flash_attention(q.tensor, k.tensor, v.tensor, c.position, flash);
      const std::string what =
          fmt::format("{} {} tokens at {}, heads of {}", name_of(type), c.tokens, c.position, c.size);
      // Scores of up to 20 that are rounded to the type change weights by as much; values are below 1.
      expect_near(steps, expected, 1e-5 + 40 * rounding_of(type), "steps " + what);
      expect_near(flash, expected, 1e-5, "flash " + what);
    }
}

TEST_P(Attention, HasScoresThatDoNotLookAhead) {
  const Case c{3, 2, 4, 2, 40, 7};
  const Numbers q = random(TensorType::f32, {c.tokens, c.heads, c.size});
  const Numbers k = random(TensorType::f32, {c.capacity, c.kv_heads, c.size});
  const Tensor scores = backend->tensor(TensorType::f32, {c.heads, c.tokens, c.position + c.tokens});
  backend->attention_scores(q.tensor, k.tensor, c.position, scores);
  const std::vector<double> found = values(scores);
  for (size_t head = 0; head < c.heads; ++head)
    for (size_t token = 0; token < c.tokens; ++token)
      for (size_t i = 0; i < 5; ++i) {
        const double score = found[(head * c.tokens + token) * 5 + i];
        if (i > c.position + token)
          EXPECT_EQ(score, -INFINITY);
        else
          EXPECT_NEAR(score, weight_of(c, q, k, token, head, i), 1e-5);
      }
}

TEST_P(Attention, DoesNotReadBeyondWhatIsFilled) {
  const size_t capacity = 50, size = 64;
  std::vector<float> nothing(capacity * size, NAN), query(size, 1), filled(3 * size, 0.5f);
  const Tensor keys = of_floats(nothing, {capacity, 1, size}), values_ = of_floats(nothing, {capacity, 1, size});
  ASSERT_TRUE(backend->write(keys.slice(0, 3), filled.data()));
  ASSERT_TRUE(backend->write(values_.slice(0, 3), filled.data()));
  const Tensor result = backend->tensor(TensorType::f32, {1, 1, size});
  backend->flash_attention(of_floats(query, {1, 1, size}), keys, values_, 2, result);
  expect_near(result, std::vector<double>(size, 0.5), 1e-6, "flash");
  backend->attention(of_floats(query, {1, 1, size}), keys, values_, 2, result);
  expect_near(result, std::vector<double>(size, 0.5), 1e-6, "steps");
}

}  // namespace
}  // namespace metalloid::transformer
