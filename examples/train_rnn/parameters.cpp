#include "parameters.hpp"

#include <cstring>

#include "sequence.hpp"

namespace metalloid::train_rnn {

namespace {

constexpr size_t alignment = 256;  // of matrices in a block

// Without gaps between rows.
size_t bytes_of(const MPS::Matrix* matrix) {
  return (matrix->rows() * matrix->columns() * sizeof(float) + alignment - 1) / alignment * alignment;
}

NS::SharedPtr<MTL::Buffer> new_block(MTL::Device* device, size_t bytes) {
  auto block = new_buffer(device, bytes, MTL::ResourceStorageModeShared);
  std::memset(block->contents(), 0, bytes);
  return block;
}

}  // namespace

Parameters::Parameters(MTL::Device* device, const std::vector<Initial>& initial) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  size_t bytes = 0;
  for (const Initial& matrix : initial) bytes += bytes_of(matrix.values.get());
  length_ = bytes / sizeof(float);
  MPS::VectorDescriptor* descriptor = MPS::VectorDescriptor::vectorDescriptor(length_, MPS::DataTypeFloat32);
  const auto make = [&](NS::SharedPtr<MTL::Buffer>& block, NS::SharedPtr<MPS::Vector>& vector) {
    block = new_block(device, bytes);
    vector = NS::TransferPtr(MPS::Vector::alloc()->init(block.get(), descriptor));
  };
  make(value_block_, all_values_);
  make(gradient_block_, all_gradients_);
  make(momentum_block_, momentum_);
  make(velocity_block_, velocity_);
  sums_ = new_buffer(device, Kernels::strips * sizeof(float), MTL::ResourceStorageModePrivate);
  adam_ = NS::TransferPtr(MPS::NNOptimizerAdam::alloc()->init(device, 0.001f));

  size_t offset = 0;
  for (const auto& [name, from] : initial) {
    names_.push_back(name);
    for (const auto& [block, matrices] : {std::pair{&value_block_, &values_}, {&gradient_block_, &gradients_}})
      matrices->push_back(matrix_in(*block, offset, from->rows(), from->columns()));
    const size_t row_bytes = from->columns() * sizeof(float);
    for (size_t row = 0; row < from->rows(); ++row)
      std::memcpy(static_cast<std::byte*>(value_block_->contents()) + offset + row * row_bytes,
                  static_cast<std::byte*>(from->data()->contents()) + from->offset() + row * from->rowBytes(),
                  row_bytes);
    offset += bytes_of(from.get());
  }
}

size_t Parameters::count() const {
  size_t count = 0;
  for (const auto& matrix : values_) count += matrix->rows() * matrix->columns();
  return count;
}

void Parameters::encode_update(MTL::CommandBuffer* commands, const Kernels& kernels, size_t step, double rate,
                               double clip) {
  if (clip > 0) kernels.clip_to_norm(commands, gradient_block_.get(), length_, float(clip), sums_.get());
  adam_->setTimeStep(step);
  adam_->setLearningRate(float(rate));
  adam_->encode(commands, all_gradients_.get(), all_values_.get(), momentum_.get(), velocity_.get(), all_values_.get());
}

std::vector<training::Tensor> Parameters::tensors() const {
  std::vector<training::Tensor> all = value_tensors();
  for (const auto& [block, suffix] : {std::pair{&momentum_block_, ".momentum"}, {&velocity_block_, ".velocity"}})
    for (training::Tensor& tensor : tensors_in(*block, suffix)) all.push_back(std::move(tensor));
  return all;
}

std::vector<training::Tensor> Parameters::value_tensors() const {
  return tensors_in(value_block_, "");
}

std::vector<training::Tensor> Parameters::tensors_in(const NS::SharedPtr<MTL::Buffer>& block,
                                                     const std::string& suffix) const {
  std::vector<training::Tensor> tensors;
  for (size_t i = 0; i < names_.size(); ++i)
    tensors.push_back({names_[i] + suffix,
                       {values_[i]->rows(), values_[i]->columns()},
                       static_cast<float*>(block->contents()) + values_[i]->offset() / sizeof(float)});
  return tensors;
}

}  // namespace metalloid::train_rnn
