// What training needs beside the operations of a forward pass, in plain C++. What each does is said in
// metalloid/backend.hpp and operations.hpp.
#pragma once

#include "transformer/operations.hpp"

namespace metalloid::transformer::cpu {

void rmsnorm_gradient(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& gradient,
                      const Tensor& result, bool add);
void softmax_gradient(const Tensor& probabilities, const Tensor& gradient, float scale, const Tensor& result);
void fused_silu_mul_gradient(const Tensor& gate, const Tensor& up, const Tensor& gradient, const Tensor& gate_gradient,
                             const Tensor& up_gradient);
void weighted_sum_gradient(const Tensor& scores, const Tensor& gradient, const AttentionShape& shape,
                           const Tensor& result);
void cross_entropy(const Tensor& logits, const Tensor& targets, float scale, const Tensor& losses,
                   const Tensor& gradient);
void norms(const Tensor& x, const Tensor& result);
void adam(const Tensor& parameters, const Tensor& gradients, const Tensor& first, const Tensor& second,
          const AdamFactors& factors);

}  // namespace metalloid::transformer::cpu
