// The operations of a transformer, behind one interface: on a Metal device (an NVIDIA GPU, or the CPU by compiled
// kernels), or in plain C++ without a device and a compiler.
//
//   auto backend = *metalloid::init_backend(metalloid::BackendPreference::Auto);
//   Tensor x = *backend->wrap(TensorType::f32, {1, 512}, numbers);        // the array itself, not a copy
//   Tensor y = backend->tensor(TensorType::f32, {1, 512});                // from the pool
//   backend->rmsnorm(x, weights, 1e-5f, y);
//   backend->softmax(y, y);
//   if (Status done = backend->finish(); !done) ...                       // waits; the first thing that went wrong
//
// Operations are encoded into a command buffer, in order, and return at once. commit() sends off what was encoded;
// finish() also waits, and so does whatever looks at numbers from the host: read(), contents(), and write(), except for
// little that goes to a GPU, which is an operation like others. read_later() does not wait for what follows it. So one
// operation alone and a whole forward pass in one command buffer are written in the same way.
//
// An operation whose arguments do not fit does nothing, and so do all that follow it until finish(), which gives the
// sentence that names the operation and the argument.
//
// Matrices are row-major. Where an operation works on rows, a tensor's last dimension is the row and all others
// together count them. Activations are f32, f16 or bf16, all of one type in one operation; sums are formed in float.
//
// A backend is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <metalloid/result.hpp>
#include <metalloid/tensor_type.hpp>
#include <string>
#include <utility>
#include <vector>

namespace metalloid {

// Auto: the best Metal device (NVIDIA, then the CPU device), or plain C++ where none works.
enum class BackendPreference { Auto, Metal, Cpu };

namespace transformer {
class TensorMemory;
class Operations;
}  // namespace transformer

// Numbers in memory of a backend: a handle, copied as a pointer is. Memory from the pool goes back there with the last
// handle; commands that were encoded before may still use it, and those that follow come after them.
class Tensor {
 public:
  Tensor() = default;  // no tensor
  Tensor(std::shared_ptr<transformer::TensorMemory> memory, size_t offset, TensorType type, std::vector<size_t> shape);

  explicit operator bool() const { return memory_ != nullptr; }
  TensorType type() const { return type_; }
  const std::vector<size_t>& shape() const { return shape_; }
  size_t count() const;  // of numbers
  size_t bytes() const;
  size_t columns() const;  // the last dimension
  size_t rows() const;     // all others together

  // Views of the same memory; no tensor where they do not fit. The first dimension from `first` on; the same numbers in
  // another shape; any numbers that lie `offset` bytes behind the first.
  Tensor slice(size_t first, size_t count) const;
  Tensor reshape(std::vector<size_t> shape) const;
  Tensor view(size_t offset, TensorType type, std::vector<size_t> shape) const;

  // For backends.
  const std::shared_ptr<transformer::TensorMemory>& memory() const { return memory_; }
  size_t offset() const { return offset_; }

 private:
  std::shared_ptr<transformer::TensorMemory> memory_;
  size_t offset_ = 0;  // bytes
  TensorType type_ = TensorType::f32;
  std::vector<size_t> shape_;
};

struct PoolStatistics {
  size_t live_bytes = 0, live_buffers = 0;      // in use by tensors
  size_t pooled_bytes = 0, pooled_buffers = 0;  // waiting to be used again
  size_t peak_bytes = 0;                        // the most that was live at once
  size_t requests = 0, hits = 0;                // hits were served without new memory
};

// result = scale * op(x) * op(w), and with `add` what was there is added. Weights are stored as [out][in], so the right
// side is transposed unless told otherwise.
struct MatmulOptions {
  bool transpose_left = false, transpose_right = true;
  bool add = false;
  float scale = 1;
};

// RMSNorm of a product's left side, done on the way; no weights, no norm.
struct Norm {
  Tensor weights;
  float epsilon = 1e-5f;
};

struct Product {
  Tensor weights;  // [out][in]
  Tensor result;   // [rows][out]
};

// Which two numbers of a head are turned together: 2i and 2i + 1 (llama2.c, GGUF), or i and i + half (NeoX, and
// checkpoints of Hugging Face).
enum class RopePairs { Neighbours, Halves };

// How heads are turned, as rope() has it.
struct Rope {
  Tensor frequencies;
  size_t position = 0;
  RopePairs pairs = RopePairs::Neighbours;
  size_t head_size = 0;
};

// base^(-2i / dimensions) for i below dimensions / 2.
std::vector<float> rope_frequencies(size_t dimensions, double base = 10000);

// One step of Adam, numbered from 1. Gradients are multiplied with a factor first, which is how they are clipped.
struct AdamStep {
  size_t number = 1;
  float rate = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, weight_decay = 0;
  float gradient_scale = 1;
};

class Backend {
 public:
  explicit Backend(std::unique_ptr<transformer::Operations> operations);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  std::string name() const;         // "metal" or "cpu"
  std::string device_name() const;  // as the device calls itself
  bool is_available() const;        // false once the device takes no more work

  // Tensors over memory of the program, which is not copied and must stay until the owner, if there is one, is let go.
  // It may begin anywhere; a mapped file is best wrapped once, as bytes (u8), and its tensors are views of that.
  Result<Tensor> wrap(TensorType type, std::vector<size_t> shape, const void* data,
                      std::shared_ptr<const void> owner = nullptr);
  // The tensor where the device reads it fastest, for weights: itself where host and device share memory, a copy in the
  // device's own memory elsewhere, or where it lies at an address that its type does not allow.
  Result<Tensor> resident(const Tensor& tensor);
  // Memory from the pool, which holds anything at first. No tensor if there is no memory; finish() says so.
  Tensor tensor(TensorType type, std::vector<size_t> shape);
  PoolStatistics pool_statistics() const;
  void trim_pool();  // frees what waits in the pool

  void commit();
  Status finish();
  Status read(const Tensor& tensor, void* destination);
  // Returns at once. The function that it gives waits for what was encoded before, while the device is at work on what
  // was encoded after; it may be called once, while the backend lives. Until then the tensor must stay as it is.
  std::function<Status(void* destination)> read_later(const Tensor& tensor);
  // Whether operations run while the host goes on.
  bool is_asynchronous() const;
  Status write(const Tensor& tensor, const void* source);
  // Where the host finds the numbers, after all work is done; null for memory that only the device sees.
  void* contents(const Tensor& tensor);

  // Products. x has [rows][in] numbers; weights may be f32, f16, bf16, and where they are [out][in] also q8_0 with `in`
  // a multiple of 32.
  void matmul(const Tensor& x, const Tensor& weights, const Tensor& result, const MatmulOptions& options = {});
  void matmul_vec(const Tensor& weights, const Tensor& x, const Tensor& result, bool add = false);
  // Several products of one x, at once where x is a single row: queries, keys and values.
  void matmul_each(const Tensor& x, const std::vector<Product>& products, const Norm& norm = {});
  // The same, and the first two results, queries and keys, are turned.
  void matmul_each(const Tensor& x, const std::vector<Product>& products, const Norm& norm, const Rope& rope);
  // silu(x gateᵀ) * (x upᵀ): the first half of a feed-forward layer.
  void matmul_silu_mul(const Tensor& x, const Tensor& gate, const Tensor& up, const Tensor& result,
                       const Norm& norm = {});
  // result += scale * (x aᵀ) bᵀ, where a is [rank][in] and b is [out][rank].
  void lora(const Tensor& x, const Tensor& a, const Tensor& b, float scale, const Tensor& result);

  // Rows. The result may be x itself. Weights of a norm are f32 or of x's type.
  void rmsnorm(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& result);
  void softmax(const Tensor& x, const Tensor& result);
  void silu(const Tensor& x, const Tensor& result);
  void fused_silu_mul(const Tensor& gate, const Tensor& up, const Tensor& result);
  void add(const Tensor& x, const Tensor& y, const Tensor& result);
  // The row of each token; the table may be q8_0. Tokens are i32; those beyond the table give its last row.
  void embed(const Tensor& table, const Tensor& tokens, const Tensor& result);
  // Where each row has its largest number, the first of equals, as i32; -1 for rows with something that is no number.
  void argmax(const Tensor& x, const Tensor& result);
  // The same numbers, rounded to the result's type: f32, f16, bf16, from those and q8_0.
  void copy(const Tensor& x, const Tensor& result);

  // Turns [tokens][heads][size] in place; the first token is at `position`. Frequencies are f32, one for each pair;
  // what of a head is beyond the pairs stays. With the frequencies negated it turns back, which is its gradient.
  void rope(const Tensor& x, size_t position, const Tensor& frequencies, RopePairs pairs);
  void rope(const std::vector<Tensor>& each, size_t position, const Tensor& frequencies, RopePairs pairs);

  // Causal attention. Queries are [tokens][heads][size], the first at `position`; keys and values are caches of
  // [capacity][kv heads][size], filled as far as position + tokens. Heads share keys in groups: their number is a
  // multiple of kv heads. Scores are multiplied by `scale`, 0 meaning 1 / sqrt(size).
  // attention() is scores, softmax and weighted sum one after the other; flash_attention() never has all scores.
  void attention(const Tensor& queries, const Tensor& keys, const Tensor& values, size_t position, const Tensor& result,
                 float scale = 0);
  void flash_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, size_t position,
                       const Tensor& result, float scale = 0);
  // Scores are [heads][tokens][position + tokens], -infinity where a query must not look.
  void attention_scores(const Tensor& queries, const Tensor& keys, size_t position, const Tensor& scores,
                        float scale = 0);
  void weighted_sum(const Tensor& scores, const Tensor& values, const Tensor& result);

  // Training. Each of these takes what its operation took and the gradient of its result, and gives those of its
  // arguments, which may lie where the arguments were. Gradients of products are products: matmul() with its options.
  // The weights of a norm stay as they are. With `add` the gradient comes to what was there.
  void rmsnorm_gradient(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& gradient,
                        const Tensor& result, bool add = false);
  // Takes what softmax gave. Where a probability is 0, so is the result, whatever the gradient; it is multiplied by
  // `scale`.
  void softmax_gradient(const Tensor& probabilities, const Tensor& gradient, const Tensor& result, float scale = 1);
  void fused_silu_mul_gradient(const Tensor& gate, const Tensor& up, const Tensor& gradient,
                               const Tensor& gate_gradient, const Tensor& up_gradient);
  // Keys and values have gradients of their own shape, of which position + tokens are written. All probabilities are
  // made once more.
  void attention_gradient(const Tensor& queries, const Tensor& keys, const Tensor& values, size_t position,
                          const Tensor& gradient, const Tensor& queries_gradient, const Tensor& keys_gradient,
                          const Tensor& values_gradient, float scale = 0);
  // Of each row -log softmax(row)[target] as f32, and, if there is a tensor for it, the gradient of their sum times
  // `scale`, which may lie where the logits are. Targets are i32; one that is no column counts for nothing.
  void cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& losses, const Tensor& gradient = {},
                     float scale = 1);
  // Of each row the square root of the sum of squares, as f32.
  void norms(const Tensor& x, const Tensor& result);
  // All f32 and of one shape; the two moments are zero before the first step.
  void adam(const Tensor& parameters, const Tensor& gradients, const Tensor& first, const Tensor& second,
            const AdamStep& step);

 private:
  void each_product(const Tensor& x, const std::vector<Product>& products, const Norm& norm, const Rope* rope);

  std::unique_ptr<transformer::Operations> operations_;
  std::string error_;  // the first since finish()
};

// The error says which device was missing and why.
Result<std::unique_ptr<Backend>> init_backend(BackendPreference preference = BackendPreference::Auto);

}  // namespace metalloid
