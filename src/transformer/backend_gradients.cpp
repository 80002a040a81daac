// Checks the arguments of what training needs, and makes the gradient of attention of its steps.
#include <cmath>

#include "transformer/check_arguments.hpp"

namespace metalloid {

using namespace transformer;

// A tensor that has to be like another.
static void check_like(Check& check, const Tensor& tensor, const char* name, const Tensor& other,
                       const char* other_name) {
  check.is_activation(tensor, name);
  if (!check) return;
  check.has_type_of(tensor, name, other, other_name);
  check.has_shape_of(tensor, name, other, other_name);
}

void Backend::rmsnorm_gradient(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& gradient,
                               const Tensor& result, bool add) {
  Check check(error_, "rmsnorm_gradient");
  check.is_activation(x, "x");
  if (check) check_norm(check, {weights, epsilon}, x);
  if (check) check_like(check, gradient, "gradient", x, "x");
  if (check) check_like(check, result, "result", x, "x");
  if (check && x.count() != 0) operations_->rmsnorm_gradient(x, weights, epsilon, gradient, result, add);
}

void Backend::softmax_gradient(const Tensor& probabilities, const Tensor& gradient, const Tensor& result, float scale) {
  Check check(error_, "softmax_gradient");
  check.is_activation(probabilities, "probabilities");
  if (check) check_like(check, gradient, "gradient", probabilities, "probabilities");
  if (check) check_like(check, result, "result", probabilities, "probabilities");
  if (check && result.count() != 0) operations_->softmax_gradient(probabilities, gradient, scale, result);
}

void Backend::fused_silu_mul_gradient(const Tensor& gate, const Tensor& up, const Tensor& gradient,
                                      const Tensor& gate_gradient, const Tensor& up_gradient) {
  Check check(error_, "fused_silu_mul_gradient");
  check.is_activation(gate, "gate");
  if (check) check_like(check, up, "up", gate, "gate");
  if (check) check_like(check, gradient, "gradient", gate, "gate");
  if (check) check_like(check, gate_gradient, "gate_gradient", gate, "gate");
  if (check) check_like(check, up_gradient, "up_gradient", gate, "gate");
  check.is_apart_from(up_gradient, gate_gradient, "gate_gradient");
  if (check && gate.count() != 0) operations_->fused_silu_mul_gradient(gate, up, gradient, gate_gradient, up_gradient);
}

void Backend::attention_gradient(const Tensor& queries, const Tensor& keys, const Tensor& values, size_t position,
                                 const Tensor& gradient, const Tensor& queries_gradient, const Tensor& keys_gradient,
                                 const Tensor& values_gradient, float scale) {
  Check check(error_, "attention_gradient");
  check_attention(check, queries, keys, values, position, queries_gradient);
  if (check) check_like(check, gradient, "gradient", queries, "queries");
  if (check) check_like(check, queries_gradient, "queries_gradient", queries, "queries");
  if (check) check_like(check, keys_gradient, "keys_gradient", keys, "keys");
  if (check) check_like(check, values_gradient, "values_gradient", keys, "keys");
  check.is_apart_from(values_gradient, gradient, "gradient");
  for (const Tensor* result : {&queries_gradient, &keys_gradient, &values_gradient}) {
    check.is_apart_from(*result, queries, "queries");
    check.is_apart_from(*result, keys, "keys");
  }
  if (!check || queries.count() == 0) return;

  const AttentionShape shape = shape_of(queries, keys, position, scale);
  const Tensor probabilities = tensor(queries.type(), {shape.heads, shape.tokens, shape.length()});
  const Tensor scores_gradient = tensor(queries.type(), probabilities.shape());
  if (!check) return;
  operations_->attention_scores(queries, keys, shape, probabilities);
  operations_->softmax(probabilities, probabilities);
  // The gradient of a probability is the product of a value and the gradient of the sum that it went into, as a score
  // is of a key and a query.
  AttentionShape unscaled = shape;
  unscaled.scale = 1;
  operations_->attention_scores(gradient, values, unscaled, scores_gradient);
  operations_->softmax_gradient(probabilities, scores_gradient, shape.scale, scores_gradient);
  operations_->weighted_sum_gradient(probabilities, gradient, shape, values_gradient);
  operations_->weighted_sum_gradient(scores_gradient, queries, shape, keys_gradient);
  operations_->weighted_sum(scores_gradient, keys, shape, queries_gradient);
}

void Backend::cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& losses, const Tensor& gradient,
                            float scale) {
  Check check(error_, "cross_entropy");
  check.is_activation(logits, "logits");
  check.is_tensor(targets, "targets", {TensorType::i32});
  check.is_tensor(losses, "losses", {TensorType::f32});
  if (!check) return;
  check.require(logits.columns() != 0, "the rows of logits have no numbers");
  check.require(targets.count() == logits.rows(), "targets are {}, and logits have {} rows", targets.count(),
                logits.rows());
  check.require(losses.count() == logits.rows(), "there is room for {} losses, and logits have {} rows", losses.count(),
                logits.rows());
  if (check && gradient) check_like(check, gradient, "gradient", logits, "logits");
  if (check && logits.rows() != 0) operations_->cross_entropy(logits, targets, scale, losses, gradient);
}

void Backend::norms(const Tensor& x, const Tensor& result) {
  Check check(error_, "norms");
  check.is_activation(x, "x");
  check.is_tensor(result, "result", {TensorType::f32});
  if (!check) return;
  check.require(result.count() == x.rows(), "result has the shape {}, and x has {} rows", text_of(result.shape()),
                x.rows());
  check.is_apart_from(result, x, "x");
  if (check && result.count() != 0) operations_->norms(x, result);
}

void Backend::adam(const Tensor& parameters, const Tensor& gradients, const Tensor& first, const Tensor& second,
                   const AdamStep& step) {
  Check check(error_, "adam");
  const std::pair<const Tensor&, const char*> each[] = {
      {parameters, "parameters"}, {gradients, "gradients"}, {first, "first"}, {second, "second"}};
  for (const auto& [tensor, name] : each) {
    check.is_tensor(tensor, name, {TensorType::f32});
    if (check) check.has_shape_of(tensor, name, parameters, "parameters");
  }
  check.require(step.number > 0, "steps are numbered from 1");
  if (!check || parameters.count() == 0) return;
  const double beta1 = step.beta1, beta2 = step.beta2, number = double(step.number);
  const double correct_first = 1 - std::pow(beta1, number), correct_second = std::sqrt(1 - std::pow(beta2, number));
  operations_->adam(parameters, gradients, first, second,
                    {.keep_first = step.beta1,
                     .take_first = float(1 - beta1),
                     .keep_second = step.beta2,
                     .take_second = float(1 - beta2),
                     .rate = float(step.rate * correct_second / correct_first),
                     .epsilon = float(step.epsilon * correct_second),
                     .decay = step.rate * step.weight_decay,
                     .gradient = step.gradient_scale});
}

}  // namespace metalloid
