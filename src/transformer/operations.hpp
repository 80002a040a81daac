// What a backend does, with arguments that Backend has checked. Operations that are made of others (a product with
// LoRA, attention step by step) are Backend's.
#pragma once

#include <functional>
#include <memory>
#include <metalloid/backend.hpp>
#include <string>
#include <vector>

#include "transformer/tensor_memory.hpp"

namespace metalloid::transformer {

// Products of weights [out][in] and one row x, done at once. Gated, there are two, and silu of the first times the
// second goes to the first one's result.
struct VectorProducts {
  Tensor x;
  std::vector<Product> products;  // at most three
  Norm norm;
  bool gated = false, add = false;
  const Rope* rope = nullptr;  // of the first two, where the backend turns_products()
};

struct AttentionShape {
  size_t tokens, heads, kv_heads, size;
  size_t position;  // of the first token
  float scale;

  size_t length() const { return position + tokens; }
};

// A step of Adam: p -= rate m / (sqrt(v) + epsilon) + decay p, where m and v are the moments of gradients that were
// multiplied with `gradient`: of the old moment `keep` stays, and `take` of the gradient or its square comes to it.
// Moments begin with zero; the correction for that is in rate and epsilon. (1 - keep is not left to kernels: v + (1 -
// keep) (g² - v), as fast math may write it, has no digits left where v is small.)
struct AdamFactors {
  float keep_first, take_first, keep_second, take_second;
  float rate, epsilon, decay, gradient;
};

class Operations {
 public:
  virtual ~Operations() = default;

  virtual std::string name() const = 0;
  virtual std::string device_name() const = 0;
  virtual bool is_available() const = 0;

  virtual std::shared_ptr<TensorMemory> wrap(const void* data, size_t bytes, std::shared_ptr<const void> owner) = 0;
  virtual std::shared_ptr<TensorMemory> take(size_t bytes) = 0;
  virtual PoolStatistics pool_statistics() const = 0;
  virtual void trim_pool() = 0;
  // Whether the device is fast on memory of the host, so that weights can stay where they are.
  virtual bool has_unified_memory() const = 0;

  virtual void commit() = 0;
  virtual Status finish() = 0;
  virtual Status read(const Tensor& tensor, void* destination) = 0;
  virtual std::function<Status(void* destination)> read_later(const Tensor& tensor) {
    return [this, tensor](void* destination) { return read(tensor, destination); };
  }
  virtual bool is_asynchronous() const { return false; }
  virtual Status write(const Tensor& tensor, const void* source) = 0;

  virtual void matmul_vec(const VectorProducts& products) = 0;
  virtual bool turns_products() const { return false; }
  virtual void matmul(const Tensor& x, const Tensor& weights, const Tensor& result, const MatmulOptions& options) = 0;
  virtual void rmsnorm(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& result) = 0;
  virtual void softmax(const Tensor& x, const Tensor& result) = 0;
  virtual void silu(const Tensor& x, const Tensor& result) = 0;
  virtual void fused_silu_mul(const Tensor& gate, const Tensor& up, const Tensor& result) = 0;
  virtual void add(const Tensor& x, const Tensor& y, const Tensor& result) = 0;
  virtual void embed(const Tensor& table, const Tensor& tokens, const Tensor& result) = 0;
  virtual void argmax(const Tensor& x, const Tensor& result) = 0;
  virtual void copy(const Tensor& x, const Tensor& result) = 0;
  virtual void rope(const std::vector<Tensor>& each, size_t position, const Tensor& frequencies, RopePairs pairs) = 0;
  virtual void attention_scores(const Tensor& queries, const Tensor& keys, const AttentionShape& shape,
                                const Tensor& scores) = 0;
  virtual void weighted_sum(const Tensor& scores, const Tensor& values, const AttentionShape& shape,
                            const Tensor& result) = 0;
  virtual void flash_attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                               const AttentionShape& shape, const Tensor& result) = 0;

  virtual void rmsnorm_gradient(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& gradient,
                                const Tensor& result, bool add) = 0;
  virtual void softmax_gradient(const Tensor& probabilities, const Tensor& gradient, float scale,
                                const Tensor& result) = 0;
  virtual void fused_silu_mul_gradient(const Tensor& gate, const Tensor& up, const Tensor& gradient,
                                       const Tensor& gate_gradient, const Tensor& up_gradient) = 0;
  // What weighted_sum would take from values back to them: the sum of gradients of all queries that saw a value, by
  // their scores, over the heads that share it.
  virtual void weighted_sum_gradient(const Tensor& scores, const Tensor& gradient, const AttentionShape& shape,
                                     const Tensor& result) = 0;
  virtual void cross_entropy(const Tensor& logits, const Tensor& targets, float scale, const Tensor& losses,
                             const Tensor& gradient) = 0;  // the gradient may be no tensor
  virtual void norms(const Tensor& x, const Tensor& result) = 0;
  virtual void adam(const Tensor& parameters, const Tensor& gradients, const Tensor& first, const Tensor& second,
                    const AdamFactors& factors) = 0;
};

// The largest head that flash_attention has; larger ones are done step by step.
inline constexpr size_t largest_flash_head = 256;

std::unique_ptr<Operations> cpu_operations();

// The shape of kernels that suits the device, or, for tests, the other one.
enum class KernelShape { OfDevice, Cpu, Gpu };
// On the system's default device, which METALLOID_DEVICE names.
Result<std::unique_ptr<Operations>> metal_operations(KernelShape shape = KernelShape::OfDevice);

}  // namespace metalloid::transformer
