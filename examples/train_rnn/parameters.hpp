// All trained numbers of a network in one block of memory, with blocks of the same layout for their gradients and for
// what Adam remembers of them: what is done to all of them is one call.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "training/checkpoint.hpp"

namespace metalloid::train_rnn {

class Parameters {
 public:
  struct Initial {
    std::string name;
    NS::SharedPtr<MPS::Matrix> values;  // of floats, which the host can read
  };
  Parameters(MTL::Device* device, const std::vector<Initial>& initial);

  // By their places in `initial`.
  const NS::SharedPtr<MPS::Matrix>& values(size_t index) const { return values_[index]; }
  const NS::SharedPtr<MPS::Matrix>& gradients(size_t index) const { return gradients_[index]; }
  size_t count() const;  // of numbers

  // Moves the values by the gradients, clipped to a norm where `clip` is not 0. Steps count from 0.
  void encode_update(MTL::CommandBuffer* commands, const Kernels& kernels, size_t step, double rate, double clip);

  // What checkpoints hold, in place.
  std::vector<training::Tensor> tensors() const;
  // The values only.
  std::vector<training::Tensor> value_tensors() const;

 private:
  std::vector<training::Tensor> tensors_in(const NS::SharedPtr<MTL::Buffer>& block, const std::string& suffix) const;

  std::vector<std::string> names_;
  size_t length_ = 0;  // of a block, in numbers
  NS::SharedPtr<MTL::Buffer> value_block_, gradient_block_, momentum_block_, velocity_block_, sums_;
  std::vector<NS::SharedPtr<MPS::Matrix>> values_, gradients_;
  NS::SharedPtr<MPS::Vector> all_values_, all_gradients_, momentum_, velocity_;
  NS::SharedPtr<MPS::NNOptimizerAdam> adam_;
};

}  // namespace metalloid::train_rnn
