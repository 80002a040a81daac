#include "sequence.hpp"

#include <fmt/format.h>

#include "training/failure.hpp"

namespace metalloid::train_rnn {

NS::SharedPtr<MTL::Buffer> new_buffer(MTL::Device* device, size_t bytes, MTL::ResourceOptions options) {
  auto buffer = NS::TransferPtr(device->newBuffer(bytes, options));
  if (!buffer)
    throw training::Failure(training::exit_failed,
                            fmt::format("the device has no memory left for {} bytes: try a smaller --hidden, --batch "
                                        "or --length",
                                        bytes));
  return buffer;
}

NS::SharedPtr<MPS::Matrix> matrix_in(const NS::SharedPtr<MTL::Buffer>& buffer, size_t offset, size_t rows,
                                     size_t columns) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  return NS::TransferPtr(MPS::Matrix::alloc()->init(
      buffer.get(), offset,
      MPS::MatrixDescriptor::matrixDescriptor(rows, columns, columns * sizeof(float), MPS::DataTypeFloat32)));
}

NS::SharedPtr<NS::Array> array_of(const std::vector<NS::SharedPtr<MPS::Matrix>>& matrices) {
  std::vector<const NS::Object*> objects;
  for (const auto& matrix : matrices) objects.push_back(matrix.get());
  return NS::TransferPtr(NS::Array::alloc()->init(objects.data(), objects.size()));
}

Sequence::Sequence(MTL::Device* device, size_t steps, size_t rows, size_t columns)
    : buffer_(new_buffer(device, steps * rows * columns * sizeof(float), MTL::ResourceStorageModePrivate)),
      all_(matrix_in(buffer_, 0, steps * rows, columns)) {
  std::vector<NS::SharedPtr<MPS::Matrix>> matrices;
  for (size_t step = 0; step < steps; ++step)
    matrices.push_back(matrix_in(buffer_, step * rows * columns * sizeof(float), rows, columns));
  steps_ = array_of(matrices);
}

}  // namespace metalloid::train_rnn
