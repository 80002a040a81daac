#include "memory_copy.hpp"

#include <cstring>

namespace metalloid::train_rnn {

MemoryCopy::MemoryCopy(MTL::Device* device, const NetworkShape& shape, size_t rows)
    : rows_(rows), columns_(shape.hidden), layers_(shape.layers) {
  const auto make = [&] {
    return new_buffer(device, rows_ * columns_ * sizeof(float), MTL::ResourceStorageModeShared);
  };
  for (Layer& layer : layers_) {
    layer.outputs = make();
    if (shape.cell == Cell::lstm) layer.cells = make();
  }
}

void MemoryCopy::take(MTL::CommandQueue* queue, const Memory& memory) {
  for (const training::Tensor& tensor : tensors()) std::memset(tensor.numbers, 0, tensor.count() * sizeof(float));
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::BlitCommandEncoder* copy = commands->blitCommandEncoder();
  for_each(memory, [&](MPS::Matrix* matrix, MTL::Buffer* buffer) {
    copy->copyFromBuffer(matrix->data(), matrix->offset(), buffer, 0, buffer->length());
  });
  copy->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
}

void MemoryCopy::encode_give(MTL::CommandBuffer* commands, const Memory& memory) const {
  MTL::BlitCommandEncoder* copy = commands->blitCommandEncoder();
  for_each(memory, [&](MPS::Matrix* matrix, MTL::Buffer* buffer) {
    copy->copyFromBuffer(buffer, 0, matrix->data(), matrix->offset(), buffer->length());
  });
  copy->endEncoding();
}

std::vector<training::Tensor> MemoryCopy::tensors() const {
  std::vector<training::Tensor> tensors;
  const auto add = [&](const std::string& name, const NS::SharedPtr<MTL::Buffer>& buffer) {
    if (buffer) tensors.push_back({name, {rows_, columns_}, static_cast<float*>(buffer->contents())});
  };
  for (size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = "memory.layer" + std::to_string(i + 1);
    add(name + ".outputs", layers_[i].outputs);
    add(name + ".cells", layers_[i].cells);
  }
  return tensors;
}

void MemoryCopy::for_each(const Memory& memory, const std::function<void(MPS::Matrix*, MTL::Buffer*)>& visit) const {
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!memory[i]) continue;
    visit(memory[i]->getRecurrentOutputMatrix(0), layers_[i].outputs.get());
    if (layers_[i].cells) visit(memory[i]->getMemoryCellMatrix(0), layers_[i].cells.get());
  }
}

}  // namespace metalloid::train_rnn
