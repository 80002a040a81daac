#include "transformer/check_arguments.hpp"

#include <cmath>

namespace metalloid::transformer {

void check_norm(Check& check, const Norm& norm, const Tensor& x) {
  check.is_tensor(norm.weights, "weights", {TensorType::f32, x.type()});
  if (check)
    check.require(norm.weights.count() == x.columns(), "the weights of the norm are {}, and the rows of x have {}",
                  norm.weights.count(), x.columns());
}

void check_weights(Check& check, const Tensor& weights, const char* name, const Tensor& x) {
  check.is_weights(weights, name);
  if (!check) return;
  check.require(weights.shape().size() == 2, "{} have the shape {}, and [out, in] is needed", name,
                text_of(weights.shape()));
  check.has_columns(weights, name, x.columns(), "as in x");
}

void check_product_result(Check& check, const Tensor& result, const Tensor& x, size_t rows, size_t columns) {
  check.is_activation(result, "result");
  if (!check) return;
  check.has_type_of(result, "result", x, "x");
  check.require(result.rows() == rows && result.columns() == columns,
                "result has the shape {}, and {} rows of {} are needed", text_of(result.shape()), rows, columns);
  check.is_apart_from(result, x, "x");
}

void check_result(Check& check, const Tensor& result, const Tensor& x, const char* name) {
  check.is_activation(result, "result");
  if (!check) return;
  check.has_type_of(result, "result", x, name);
  check.has_shape_of(result, "result", x, name);
}

bool check_heads(Check& check, const Tensor& tensor, const char* name, const char* shape) {
  check.is_activation(tensor, name);
  if (check)
    check.require(tensor.shape().size() == 3, "{} have the shape {}, and {} is needed", name, text_of(tensor.shape()),
                  shape);
  return bool(check);
}

void check_cache(Check& check, const Tensor& cache, const char* name, size_t length) {
  if (!check_heads(check, cache, name, "[capacity, kv heads, size]")) return;
  check.require(length <= cache.shape()[0], "{} have room for {} tokens, and {} are needed", name, cache.shape()[0],
                length);
  check.require(cache.shape()[1] != 0, "{} have no heads", name);
}

void check_groups(Check& check, size_t heads, size_t kv_heads) {
  check.require(kv_heads != 0 && heads % kv_heads == 0, "{} heads of queries cannot share {} of keys evenly", heads,
                kv_heads);
}

AttentionShape shape_of(const Tensor& queries, const Tensor& keys, size_t position, float scale) {
  const size_t size = queries.shape()[2];
  return {queries.shape()[0], queries.shape()[1],
          keys.shape()[1],    size,
          position,           scale == 0 ? 1 / std::sqrt(float(size)) : scale};
}

void check_queries(Check& check, const Tensor& queries, const Tensor& keys, size_t position) {
  if (!check_heads(check, queries, "queries", "[tokens, heads, size]")) return;
  check.require(position <= UINT32_MAX / 2, "position ({}) is too large", position);
  check_cache(check, keys, "keys", position + queries.shape()[0]);
  if (!check) return;
  check.has_type_of(keys, "keys", queries, "queries");
  check.require(keys.shape()[2] == queries.shape()[2], "heads of keys have {} numbers, and those of queries {}",
                keys.shape()[2], queries.shape()[2]);
  check_groups(check, queries.shape()[1], keys.shape()[1]);
}

void check_attention(Check& check, const Tensor& queries, const Tensor& keys, const Tensor& values, size_t position,
                     const Tensor& result) {
  check_queries(check, queries, keys, position);
  check.is_activation(values, "values");
  if (!check) return;
  check.has_type_of(values, "values", queries, "queries");
  check.has_shape_of(values, "values", keys, "keys");
  check.is_activation(result, "result");
  if (!check) return;
  check.has_type_of(result, "result", queries, "queries");
  check.require(result.count() == queries.count(), "result has the shape {}, and queries have {}",
                text_of(result.shape()), text_of(queries.shape()));
  check.is_apart_from(result, queries, "queries");
}

}  // namespace metalloid::transformer
