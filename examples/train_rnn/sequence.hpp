// Sequences that run side by side: a block of floats, step below step, which is one matrix of all rows and a matrix for
// each step.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <vector>

namespace metalloid::train_rnn {

// Throw a training::Failure where there is no memory.
NS::SharedPtr<MTL::Buffer> new_buffer(MTL::Device* device, size_t bytes, MTL::ResourceOptions options);
// Of floats, [rows][columns] without gaps, from an offset in bytes on.
NS::SharedPtr<MPS::Matrix> matrix_in(const NS::SharedPtr<MTL::Buffer>& buffer, size_t offset, size_t rows,
                                     size_t columns);
NS::SharedPtr<NS::Array> array_of(const std::vector<NS::SharedPtr<MPS::Matrix>>& matrices);

class Sequence {
 public:
  // Rows are the sequences.
  Sequence(MTL::Device* device, size_t steps, size_t rows, size_t columns);

  MTL::Buffer* buffer() const { return buffer_.get(); }
  size_t count() const { return all_->rows() * all_->columns(); }
  MPS::Matrix* all() const { return all_.get(); }
  NS::Array* steps() const { return steps_.get(); }
  MPS::Matrix* last() const { return steps_->object<MPS::Matrix>(steps_->count() - 1); }

 private:
  NS::SharedPtr<MTL::Buffer> buffer_;
  NS::SharedPtr<MPS::Matrix> all_;
  NS::SharedPtr<NS::Array> steps_;
};

}  // namespace metalloid::train_rnn
