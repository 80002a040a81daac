// A copy of what recurrent layers remember from one chunk to the next, which checkpoints hold.
#pragma once

#include <functional>
#include <vector>

#include "network.hpp"
#include "training/checkpoint.hpp"

namespace metalloid::train_rnn {

class MemoryCopy {
 public:
  MemoryCopy(MTL::Device* device, const NetworkShape& shape, size_t rows);

  // From a memory, zeros if it is empty. It waits for all work that is on its way in the queue.
  void take(MTL::CommandQueue* queue, const Memory& memory);
  // To a memory whose states there are already.
  void encode_give(MTL::CommandBuffer* commands, const Memory& memory) const;
  std::vector<training::Tensor> tensors() const;

 private:
  struct Layer {
    NS::SharedPtr<MTL::Buffer> outputs, cells;  // no cells in a GRU
  };
  // Pairs of a matrix of a state and its copy.
  void for_each(const Memory& memory, const std::function<void(MPS::Matrix*, MTL::Buffer*)>& visit) const;

  const size_t rows_, columns_;
  std::vector<Layer> layers_;
};

}  // namespace metalloid::train_rnn
