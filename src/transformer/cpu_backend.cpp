// Transformers in plain C++: what Auto falls back to, and what kernels are compared with. Every operation is done when
// it is called, by all cores, and reads its numbers into floats first.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include "transformer/buffer_pool.hpp"
#include "transformer/cpu_gradients.hpp"
#include "transformer/cpu_rows.hpp"
#include "transformer/operations.hpp"

namespace metalloid::transformer {
namespace {

class OwnMemory final : public TensorMemory {
 public:
  OwnMemory(std::byte* host, size_t bytes) : TensorMemory(host, bytes) {}
  ~OwnMemory() override { ::operator delete(host, alignment); }

  static std::unique_ptr<TensorMemory> allocate(size_t bytes) {
    void* host = ::operator new(bytes, alignment, std::nothrow);
    if (!host) return nullptr;
    return std::make_unique<OwnMemory>(static_cast<std::byte*>(host), bytes);
  }

 private:
  static constexpr std::align_val_t alignment{4096};
};

class WrappedMemory final : public TensorMemory {
 public:
  WrappedMemory(const void* data, size_t bytes, std::shared_ptr<const void> owner)
      : TensorMemory(static_cast<std::byte*>(const_cast<void*>(data)), bytes), owner_(std::move(owner)) {}

 private:
  std::shared_ptr<const void> owner_;
};

void normalise(std::vector<float>& row, const Tensor& weights, float epsilon) {
  const std::vector<float> factors = row_of(weights.reshape({weights.count()}), 0);
  const float factor = 1 / std::sqrt(dot(row.data(), row.data(), row.size()) / float(row.size()) + epsilon);
  for (size_t i = 0; i < row.size(); ++i) row[i] *= factor * factors[i];
}

class CpuOperations final : public Operations {
 public:
  std::string name() const override { return "cpu"; }
  std::string device_name() const override { return "plain C++"; }
  bool is_available() const override { return true; }

  std::shared_ptr<TensorMemory> wrap(const void* data, size_t bytes, std::shared_ptr<const void> owner) override {
    return std::make_shared<WrappedMemory>(data, bytes, std::move(owner));
  }
  std::shared_ptr<TensorMemory> take(size_t bytes) override { return pool_.take(bytes); }
  PoolStatistics pool_statistics() const override { return pool_.statistics(); }
  void trim_pool() override { pool_.trim(); }
  bool has_unified_memory() const override { return true; }

  void commit() override {}
  Status finish() override { return success(); }
  Status read(const Tensor& tensor, void* destination) override {
    std::memcpy(destination, numbers_of<std::byte>(tensor), tensor.bytes());
    return success();
  }
  Status write(const Tensor& tensor, const void* source) override {
    std::memcpy(numbers_of<std::byte>(tensor), source, tensor.bytes());
    return success();
  }

  void matmul_vec(const VectorProducts& work) override {
    std::vector<float> x = row_of(work.x, 0);
    if (work.norm.weights) normalise(x, work.norm.weights, work.norm.epsilon);
    const size_t products = work.gated ? 1 : work.products.size();
    for (size_t i = 0; i < products; ++i) {
      const Product& product = work.products[i];
      with_type(product.result.type(), [&]<class T>(T) {
        T* result = numbers_of<T>(product.result);
        each_row(product.weights.rows(), [&](size_t row) {
          float sum = product_of(product.weights, row, x);
          if (work.gated) sum = silu_of(sum) * product_of(work.products[1].weights, row, x);
          result[row] = work.add ? sum + float(result[row]) : sum;
        });
      });
    }
  }

  void matmul(const Tensor& x, const Tensor& weights, const Tensor& result, const MatmulOptions& options) override {
    const size_t rows = result.rows(), columns = result.columns(), count = x.count() / std::max<size_t>(rows, 1);
    std::vector<float> left(rows * count);
    for (size_t i = 0; i < x.rows(); ++i) {
      const std::vector<float> numbers = row_of(x, i);
      for (size_t j = 0; j < numbers.size(); ++j)
        left[options.transpose_left ? j * count + i : i * count + j] = numbers[j];
    }
    with_type(result.type(), [&]<class T>(T) {
      T* to = numbers_of<T>(result);
      each_row(columns, [&](size_t column) {
        std::vector<float> right;
        if (options.transpose_right) {
          right = row_of(weights, column);
        } else {
          right.resize(count);
          for (size_t i = 0; i < count; ++i) load(weights, i, column, 1, &right[i]);
        }
        for (size_t row = 0; row < rows; ++row) {
          const float sum = options.scale * dot(&left[row * count], right.data(), count);
          T& place = to[row * columns + column];
          place = options.add ? sum + float(place) : sum;
        }
      });
    });
  }

  void rmsnorm(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& result) override {
    by_rows(x, result, [&](std::vector<float>& row) { normalise(row, weights, epsilon); });
  }

  void softmax(const Tensor& x, const Tensor& result) override {
    by_rows(x, result, [](std::vector<float>& row) { softmax_of(row.data(), row.size()); });
  }

  void silu(const Tensor& x, const Tensor& result) override {
    by_rows(x, result, [](std::vector<float>& row) { std::transform(row.begin(), row.end(), row.begin(), silu_of); });
  }

  void fused_silu_mul(const Tensor& gate, const Tensor& up, const Tensor& result) override {
    by_pairs_of_rows(gate, up, result, [](float g, float u) { return silu_of(g) * u; });
  }

  void add(const Tensor& x, const Tensor& y, const Tensor& result) override {
    by_pairs_of_rows(x, y, result, [](float a, float b) { return a + b; });
  }

  void embed(const Tensor& table, const Tensor& tokens, const Tensor& result) override {
    const int32_t* token = numbers_of<const int32_t>(tokens);
    for (size_t i = 0; i < tokens.count(); ++i)
      store(result, i, row_of(table, std::min<size_t>(uint32_t(token[i]), table.rows() - 1)));
  }

  void argmax(const Tensor& x, const Tensor& result) override {
    int32_t* place = numbers_of<int32_t>(result);
    for (size_t i = 0; i < x.rows(); ++i) {
      const std::vector<float> row = row_of(x, i);
      const bool is_broken = std::ranges::any_of(row, [](float number) { return std::isnan(number); });
      place[i] = is_broken ? -1 : int32_t(std::max_element(row.begin(), row.end()) - row.begin());
    }
  }

  void copy(const Tensor& x, const Tensor& result) override {
    by_rows(x, result, [](std::vector<float>&) {});
  }

  void rope(const std::vector<Tensor>& each, size_t position, const Tensor& frequencies, RopePairs pairs) override {
    const float* frequency = numbers_of<const float>(frequencies);
    const size_t count = frequencies.count();
    for (const Tensor& x : each) {
      const size_t heads = x.shape()[1];
      each_row(x.rows(), [&](size_t row) {
        std::vector<float> head = row_of(x, row);
        for (size_t i = 0; i < count; ++i) {
          const float angle = float(position + row / heads) * frequency[i], c = std::cos(angle), s = std::sin(angle);
          float& a = pairs == RopePairs::Neighbours ? head[2 * i] : head[i];
          float& b = pairs == RopePairs::Neighbours ? head[2 * i + 1] : head[i + count];
          const float turned = a * c - b * s;
          b = a * s + b * c;
          a = turned;
        }
        store(x, row, head);
      });
    }
  }

  void attention_scores(const Tensor& queries, const Tensor& keys, const AttentionShape& shape,
                        const Tensor& scores) override {
    each_row(shape.heads * shape.tokens, [&](size_t row) {
      store(scores, row, scores_of(queries, keys, shape, row / shape.tokens, row % shape.tokens));
    });
  }

  void weighted_sum(const Tensor& scores, const Tensor& values, const AttentionShape& shape,
                    const Tensor& result) override {
    each_row(shape.heads * shape.tokens, [&](size_t row) {
      sum_of_values(row_of(scores, row), values, shape, row / shape.tokens, row % shape.tokens, result);
    });
  }

  void flash_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const AttentionShape& shape,
                       const Tensor& result) override {
    each_row(shape.heads * shape.tokens, [&](size_t row) {
      const size_t head = row / shape.tokens, token = row % shape.tokens;
      std::vector<float> scores = scores_of(queries, keys, shape, head, token);
      scores.resize(shape.position + token + 1);
      softmax_of(scores.data(), scores.size());
      sum_of_values(scores, values, shape, head, token, result);
    });
  }

  void rmsnorm_gradient(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& gradient,
                        const Tensor& result, bool add) override {
    cpu::rmsnorm_gradient(x, weights, epsilon, gradient, result, add);
  }
  void softmax_gradient(const Tensor& probabilities, const Tensor& gradient, float scale,
                        const Tensor& result) override {
    cpu::softmax_gradient(probabilities, gradient, scale, result);
  }
  void fused_silu_mul_gradient(const Tensor& gate, const Tensor& up, const Tensor& gradient,
                               const Tensor& gate_gradient, const Tensor& up_gradient) override {
    cpu::fused_silu_mul_gradient(gate, up, gradient, gate_gradient, up_gradient);
  }
  void weighted_sum_gradient(const Tensor& scores, const Tensor& gradient, const AttentionShape& shape,
                             const Tensor& result) override {
    cpu::weighted_sum_gradient(scores, gradient, shape, result);
  }
  void cross_entropy(const Tensor& logits, const Tensor& targets, float scale, const Tensor& losses,
                     const Tensor& gradient) override {
    cpu::cross_entropy(logits, targets, scale, losses, gradient);
  }
  void norms(const Tensor& x, const Tensor& result) override { cpu::norms(x, result); }
  void adam(const Tensor& parameters, const Tensor& gradients, const Tensor& first, const Tensor& second,
            const AdamFactors& factors) override {
    cpu::adam(parameters, gradients, first, second, factors);
  }

 private:
  template <class Work>
  static void by_rows(const Tensor& x, const Tensor& result, const Work& work) {
    each_row(x.rows(), [&](size_t i) {
      std::vector<float> row = row_of(x, i);
      work(row);
      store(result, i, row);
    });
  }

  template <class Combine>
  static void by_pairs_of_rows(const Tensor& x, const Tensor& y, const Tensor& result, const Combine& combine) {
    each_row(x.rows(), [&](size_t i) {
      std::vector<float> row = row_of(x, i);
      const std::vector<float> other = row_of(y, i);
      std::transform(row.begin(), row.end(), other.begin(), row.begin(), combine);
      store(result, i, row);
    });
  }

  // A row of weights is read in pieces that stay in the nearest cache.
  static float product_of(const Tensor& weights, size_t row, const std::vector<float>& x) {
    if (weights.type() == TensorType::f32)
      return dot(numbers_of<const float>(weights) + row * x.size(), x.data(), x.size());
    constexpr size_t piece = 512;
    float numbers[piece], sum = 0;
    for (size_t first = 0; first < x.size(); first += piece) {
      const size_t count = std::min(piece, x.size() - first);
      load(weights, row, first, count, numbers);
      sum += dot(numbers, &x[first], count);
    }
    return sum;
  }

  static std::vector<float> scores_of(const Tensor& queries, const Tensor& keys, const AttentionShape& shape,
                                      size_t head, size_t token) {
    const std::vector<float> query = head_of(queries, token, head);
    std::vector<float> scores(shape.length(), -std::numeric_limits<float>::infinity());
    for (size_t i = 0; i <= shape.position + token; ++i)
      scores[i] =
          shape.scale * dot(query.data(), head_of(keys, i, head * shape.kv_heads / shape.heads).data(), query.size());
    return scores;
  }

  static void sum_of_values(const std::vector<float>& scores, const Tensor& values, const AttentionShape& shape,
                            size_t head, size_t token, const Tensor& result) {
    std::vector<float> sums(shape.size);
    for (size_t i = 0; i < scores.size(); ++i) {
      const std::vector<float> value = head_of(values, i, head * shape.kv_heads / shape.heads);
      for (size_t j = 0; j < sums.size(); ++j) sums[j] += scores[i] * value[j];
    }
    store(result, token * shape.heads + head, sums);
  }

  BufferPool pool_{OwnMemory::allocate};
};

}  // namespace

std::unique_ptr<Operations> cpu_operations() {
  return std::make_unique<CpuOperations>();
}

}  // namespace metalloid::transformer
