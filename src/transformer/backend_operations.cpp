// Checks the arguments of operations, and makes the larger operations of smaller ones.
#include <metalloid/backend.hpp>

#include "transformer/check_arguments.hpp"
#include "transformer/operations.hpp"

namespace metalloid {

using namespace transformer;

// Behind the products from `first` on that can be done at once: up to three, of weights of one type.
static size_t end_of_batch(const std::vector<Product>& products, size_t first) {
  size_t end = first + 1;
  while (end < products.size() && end < first + 3 && products[end].weights.type() == products[first].weights.type())
    ++end;
  return end;
}

void Backend::matmul(const Tensor& x, const Tensor& weights, const Tensor& result, const MatmulOptions& options) {
  Check check(error_, "matmul");
  check.is_activation(x, "x");
  check.is_weights(weights, "weights");
  if (!check) return;
  check.require(!weights.shape().empty() && weights.shape().size() <= 2,
                "weights have the shape {}, and two dimensions are needed", text_of(weights.shape()));
  check.require(weights.type() != TensorType::q8_0 || options.transpose_right,
                "weights are Q8_0, which is multiplied as [out, in] only");
  const size_t rows = options.transpose_left ? x.columns() : x.rows();
  const size_t inner = options.transpose_left ? x.rows() : x.columns();
  const size_t there = options.transpose_right ? weights.columns() : weights.rows();
  const size_t columns = options.transpose_right ? weights.rows() : weights.columns();
  check.require(inner == there, "weights have the shape {}, and {} numbers of x are to be multiplied with {}",
                text_of(weights.shape()), inner, there);
  check_product_result(check, result, x, rows, columns);
  check.is_apart_from(result, weights, "weights");
  if (!check || result.count() == 0) return;
  if (rows == 1 && !options.transpose_left && options.transpose_right && options.scale == 1)
    operations_->matmul_vec({x, {{weights, result}}, {}, false, options.add});
  else
    operations_->matmul(x, weights, result, options);
}

void Backend::matmul_vec(const Tensor& weights, const Tensor& x, const Tensor& result, bool add) {
  Check check(error_, "matmul_vec");
  check.is_activation(x, "x");
  if (!check) return;
  check.require(x.rows() == 1, "x has the shape {}, and one row is needed", text_of(x.shape()));
  check_weights(check, weights, "weights", x);
  if (check) check_product_result(check, result, x, 1, weights.rows());
  if (check && result.count() != 0) operations_->matmul_vec({x, {{weights, result}}, {}, false, add});
}

void Backend::matmul_each(const Tensor& x, const std::vector<Product>& products, const Norm& norm) {
  each_product(x, products, norm, nullptr);
}

// `rope` only where the operations turn all that there is.
void Backend::each_product(const Tensor& x, const std::vector<Product>& products, const Norm& norm, const Rope* rope) {
  Check check(error_, "matmul_each");
  check.is_activation(x, "x");
  if (check && norm.weights) check_norm(check, norm, x);
  for (const Product& product : products) {
    if (check) check_weights(check, product.weights, "weights", x);
    if (check) check_product_result(check, product.result, x, x.rows(), product.weights.rows());
  }
  if (!check || x.count() == 0) return;
  if (x.rows() == 1) {
    for (size_t first = 0, end; first < products.size(); first = end) {
      end = end_of_batch(products, first);
      operations_->matmul_vec({.x = x,
                               .products = {products.begin() + ptrdiff_t(first), products.begin() + ptrdiff_t(end)},
                               .norm = norm,
                               .rope = rope});
    }
    return;
  }
  Tensor normed = x;
  if (norm.weights) {
    normed = tensor(x.type(), x.shape());
    rmsnorm(x, norm.weights, norm.epsilon, normed);
  }
  for (const Product& product : products) matmul(normed, product.weights, product.result);
}

void Backend::matmul_each(const Tensor& x, const std::vector<Product>& products, const Norm& norm, const Rope& rope) {
  Check check(error_, "matmul_each");
  check.is_tensor(rope.frequencies, "frequencies", {TensorType::f32});
  check.require(products.size() >= 2, "there are {} products, and two are to be turned", products.size());
  check.require(rope.head_size != 0 && rope.position <= UINT32_MAX / 2,
                "head_size ({}) is 0, or position ({}) too large", rope.head_size, rope.position);
  if (!check) return;
  std::vector<Tensor> turned;
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& result = products[i].result;
    check.is_activation(result, "result");
    if (!check) return;
    check.require(result.columns() % rope.head_size == 0, "{} numbers are no heads of {}", result.columns(),
                  rope.head_size);
    if (!check) return;
    turned.push_back(result.reshape({result.rows(), result.columns() / rope.head_size, rope.head_size}));
  }
  check.require(2 * rope.frequencies.count() <= rope.head_size, "frequencies are {} for pairs of heads of {} numbers",
                rope.frequencies.count(), rope.head_size);
  if (!check) return;
  const bool on_the_way = operations_->turns_products() && x && x.rows() == 1 && products.size() <= 3 &&
                          end_of_batch(products, 0) == products.size() && rope.head_size % 2 == 0;
  if (on_the_way) return each_product(x, products, norm, &rope);
  each_product(x, products, norm, nullptr);
  this->rope(turned, rope.position, rope.frequencies, rope.pairs);
}

void Backend::matmul_silu_mul(const Tensor& x, const Tensor& gate, const Tensor& up, const Tensor& result,
                              const Norm& norm) {
  Check check(error_, "matmul_silu_mul");
  check.is_activation(x, "x");
  if (check && norm.weights) check_norm(check, norm, x);
  if (check) check_weights(check, gate, "gate", x);
  if (check) check_weights(check, up, "up", x);
  if (!check) return;
  check.has_shape_of(up, "up", gate, "gate");
  check_product_result(check, result, x, x.rows(), gate.rows());
  if (!check || result.count() == 0) return;
  if (x.rows() == 1 && gate.type() == up.type()) {
    operations_->matmul_vec({x, {{gate, result}, {up, result}}, norm, true});
    return;
  }
  const Tensor multiplied = tensor(result.type(), result.shape());
  matmul_each(x, {{gate, result}, {up, multiplied}}, norm);
  fused_silu_mul(result, multiplied, result);
}

void Backend::lora(const Tensor& x, const Tensor& a, const Tensor& b, float scale, const Tensor& result) {
  Check check(error_, "lora");
  check.is_activation(x, "x");
  if (check) check_weights(check, a, "a", x);
  check.is_weights(b, "b");
  if (!check) return;
  check.has_columns(b, "b", a.rows(), "the rank of a");
  check_product_result(check, result, x, x.rows(), b.rows());
  if (!check) return;
  const Tensor low = tensor(x.type(), {x.rows(), a.rows()});
  matmul(x, a, low);
  matmul(low, b, result, {.add = true, .scale = scale});
}

void Backend::rmsnorm(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& result) {
  Check check(error_, "rmsnorm");
  check.is_activation(x, "x");
  if (check) check_norm(check, {weights, epsilon}, x);
  if (check) check_result(check, result, x, "x");
  if (check && x.count() != 0) operations_->rmsnorm(x, weights, epsilon, result);
}

void Backend::softmax(const Tensor& x, const Tensor& result) {
  Check check(error_, "softmax");
  check.is_activation(x, "x");
  if (check) check_result(check, result, x, "x");
  if (check && x.count() != 0) operations_->softmax(x, result);
}

void Backend::silu(const Tensor& x, const Tensor& result) {
  Check check(error_, "silu");
  check.is_activation(x, "x");
  if (check) check_result(check, result, x, "x");
  if (check && x.count() != 0) operations_->silu(x, result);
}

void Backend::fused_silu_mul(const Tensor& gate, const Tensor& up, const Tensor& result) {
  Check check(error_, "fused_silu_mul");
  check.is_activation(gate, "gate");
  if (check) check_result(check, up, gate, "gate");
  if (check) check_result(check, result, gate, "gate");
  if (check && gate.count() != 0) operations_->fused_silu_mul(gate, up, result);
}

void Backend::add(const Tensor& x, const Tensor& y, const Tensor& result) {
  Check check(error_, "add");
  check.is_activation(x, "x");
  check.is_activation(y, "y");
  if (!check) return;
  check.has_type_of(y, "y", x, "x");
  check.has_shape_of(y, "y", x, "x");
  check_result(check, result, x, "x");
  if (check && x.count() != 0) operations_->add(x, y, result);
}

void Backend::embed(const Tensor& table, const Tensor& tokens, const Tensor& result) {
  Check check(error_, "embed");
  check.is_weights(table, "table");
  check.is_tensor(tokens, "tokens", {TensorType::i32});
  check.is_activation(result, "result");
  if (!check) return;
  check.require(table.shape().size() == 2 && table.rows() != 0, "table has the shape {}, and [tokens, size] is needed",
                text_of(table.shape()));
  check.require(result.rows() == tokens.count() && result.columns() == table.columns(),
                "result has the shape {}, and {} rows of {} are needed", text_of(result.shape()), tokens.count(),
                table.columns());
  if (check && result.count() != 0) operations_->embed(table, tokens, result);
}

void Backend::argmax(const Tensor& x, const Tensor& result) {
  Check check(error_, "argmax");
  check.is_activation(x, "x");
  check.is_tensor(result, "result", {TensorType::i32});
  if (!check) return;
  check.require(x.columns() != 0, "the rows of x have no numbers");
  check.require(result.count() == x.rows(), "result has the shape {}, and x has {} rows", text_of(result.shape()),
                x.rows());
  if (check && result.count() != 0) operations_->argmax(x, result);
}

void Backend::copy(const Tensor& x, const Tensor& result) {
  Check check(error_, "copy");
  check.is_weights(x, "x");
  check.is_activation(result, "result");
  if (!check) return;
  check.has_shape_of(result, "result", x, "x");
  check.is_apart_from(result, x, "x");
  if (check && x.count() != 0) operations_->copy(x, result);
}

void Backend::rope(const Tensor& x, size_t position, const Tensor& frequencies, RopePairs pairs) {
  rope(std::vector{x}, position, frequencies, pairs);
}

void Backend::rope(const std::vector<Tensor>& each, size_t position, const Tensor& frequencies, RopePairs pairs) {
  Check check(error_, "rope");
  check.is_tensor(frequencies, "frequencies", {TensorType::f32});
  for (const Tensor& x : each) {
    if (!check_heads(check, x, "x", "[tokens, heads, size]")) return;
    check.require(2 * frequencies.count() <= x.columns(), "frequencies are {} for pairs of heads of {} numbers",
                  frequencies.count(), x.columns());
    check.has_type_of(x, "x", each[0], "the first");
    check.require(x.shape()[0] == each[0].shape()[0], "x has {} tokens, and the first has {}", x.shape()[0],
                  each[0].shape()[0]);
  }
  check.require(position <= UINT32_MAX / 2, "position ({}) is too large", position);
  if (check && !each.empty() && frequencies.count() != 0) operations_->rope(each, position, frequencies, pairs);
}

void Backend::attention_scores(const Tensor& queries, const Tensor& keys, size_t position, const Tensor& scores,
                               float scale) {
  Check check(error_, "attention_scores");
  check_queries(check, queries, keys, position);
  check.is_activation(scores, "scores");
  if (!check) return;
  const AttentionShape shape = shape_of(queries, keys, position, scale);
  check.has_type_of(scores, "scores", queries, "queries");
  check.has_shape(scores, "scores", {shape.heads, shape.tokens, shape.length()});
  if (check && scores.count() != 0) operations_->attention_scores(queries, keys, shape, scores);
}

void Backend::weighted_sum(const Tensor& scores, const Tensor& values, const Tensor& result) {
  Check check(error_, "weighted_sum");
  if (!check_heads(check, scores, "scores", "[heads, tokens, length]")) return;
  const size_t heads = scores.shape()[0], tokens = scores.shape()[1], length = scores.shape()[2];
  check_cache(check, values, "values", length);
  check.is_activation(result, "result");
  if (!check) return;
  check.has_type_of(values, "values", scores, "scores");
  check.has_type_of(result, "result", scores, "scores");
  check.require(length >= tokens, "scores have the shape {}, which is of more tokens than there are",
                text_of(scores.shape()));
  check_groups(check, heads, values.shape()[1]);
  check.require(result.count() == tokens * heads * values.shape()[2],
                "result has the shape {}, and [{}, {}, {}] is needed", text_of(result.shape()), tokens, heads,
                values.shape()[2]);
  if (check && result.count() != 0)
    operations_->weighted_sum(scores, values, {tokens, heads, values.shape()[1], values.shape()[2], length - tokens, 1},
                              result);
}

void Backend::attention(const Tensor& queries, const Tensor& keys, const Tensor& values, size_t position,
                        const Tensor& result, float scale) {
  Check check(error_, "attention");
  check_attention(check, queries, keys, values, position, result);
  if (!check || result.count() == 0) return;
  const Tensor scores = tensor(queries.type(), {queries.shape()[1], queries.shape()[0], position + queries.shape()[0]});
  attention_scores(queries, keys, position, scores, scale);
  softmax(scores, scores);
  weighted_sum(scores, values, result);
}

void Backend::flash_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, size_t position,
                              const Tensor& result, float scale) {
  Check check(error_, "flash_attention");
  check_attention(check, queries, keys, values, position, result);
  if (!check || result.count() == 0) return;
  if (queries.shape()[2] > largest_flash_head)
    attention(queries, keys, values, position, result, scale);
  else
    operations_->flash_attention(queries, keys, values, shape_of(queries, keys, position, scale), result);
}

}  // namespace metalloid
