// Products of matrices on a Metal device: by our own kernel, or by MPS. Which is faster for small ones, nobody knows
// beforehand: each kind of product (its types, and its sizes to the next power of two) is measured when it first comes,
// and remembered, in the disk cache too. Large ones are MPS's.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <compare>
#include <map>
#include <metalloid/backend.hpp>

#include "transformer/buffer_pool.hpp"
#include "transformer/metal_commands.hpp"

namespace metalloid::transformer {

class MetalProducts {
 public:
  MetalProducts(MetalCommands& commands, BufferPool& pool) : commands_(commands), pool_(pool) {}

  void encode(const Tensor& x, const Tensor& weights, const Tensor& result, const MatmulOptions& options);

 private:
  enum class Way { Kernel, Mps };
  struct Work {
    TensorType type, weights_type;
    size_t rows, columns, interior;
    MatmulOptions options;
  };

  Way way_of(const Work& work, const Tensor& x, const Tensor& weights);
  Way measure(const Work& work, const Tensor& x, const Tensor& weights);
  void encode(Way way, const Work& work, const Tensor& x, const Tensor& weights, const Tensor& result);
  void encode_mps(const Work& work, const Tensor& x, const Tensor& weights, const Tensor& result);
  Tensor scratch(TensorType type, std::vector<size_t> shape);

  MetalCommands& commands_;
  BufferPool& pool_;
  std::map<std::string, Way> ways_;
  std::map<std::string, NS::SharedPtr<MPS::MatrixMultiplication>> multiplications_;
};

// The name of a kernel for these types of weights and activations.
std::string kernel_name(const char* kernel, TensorType weights, TensorType activations);

}  // namespace metalloid::transformer
