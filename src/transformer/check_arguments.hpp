// What operations ask of their arguments, forwards and backwards.
#pragma once

#include "transformer/check.hpp"
#include "transformer/operations.hpp"

namespace metalloid::transformer {

void check_norm(Check& check, const Norm& norm, const Tensor& x);
// Weights [out][in] of a product of x.
void check_weights(Check& check, const Tensor& weights, const char* name, const Tensor& x);
void check_product_result(Check& check, const Tensor& result, const Tensor& x, size_t rows, size_t columns);
// Of an operation that makes one number of one.
void check_result(Check& check, const Tensor& result, const Tensor& x, const char* name);
bool check_heads(Check& check, const Tensor& tensor, const char* name, const char* shape);
// Keys or values that are filled as far as `length`.
void check_cache(Check& check, const Tensor& cache, const char* name, size_t length);
void check_groups(Check& check, size_t heads, size_t kv_heads);
AttentionShape shape_of(const Tensor& queries, const Tensor& keys, size_t position, float scale);
void check_queries(Check& check, const Tensor& queries, const Tensor& keys, size_t position);
void check_attention(Check& check, const Tensor& queries, const Tensor& keys, const Tensor& values, size_t position,
                     const Tensor& result);

}  // namespace metalloid::transformer
