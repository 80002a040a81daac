#include "micro_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench.hpp"
#include "bench_workload.hpp"
#include "device/small_float.hpp"

namespace metalloid::tool {

NS::SharedPtr<MTL::ComputePipelineState> MicroBench::pipeline(const char* file, const char* kernel,
                                                              const std::vector<uint32_t>& constants) {
  NS::Error* error = nullptr;
  const std::string source(kernel_source(file));
  const auto library =
      NS::TransferPtr(device_->newLibrary(NS::String::string(source.c_str(), NS::UTF8StringEncoding), nullptr, &error));
  require(bool(library), fmt::format("{} does not compile", file));
  const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  for (size_t i = 0; i < constants.size(); ++i) values->setConstantValue(&constants[i], MTL::DataTypeUInt, i);
  const auto function =
      NS::TransferPtr(library->newFunction(NS::String::string(kernel, NS::UTF8StringEncoding), values.get(), &error));
  auto pipeline = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
  require(bool(pipeline), fmt::format("{} has no pipeline", kernel));
  return pipeline;
}

NS::SharedPtr<MTL::Buffer> MicroBench::new_buffer(size_t bytes) {
  return NS::TransferPtr(device_->newBuffer(bytes, MTL::ResourceStorageModePrivate));
}

Matrix MicroBench::new_matrix(size_t rows, size_t columns, MPS::DataType type) {
  const size_t row_bytes = columns * (type == MPS::DataTypeFloat32 ? 4 : 2);
  return NS::TransferPtr(MPS::Matrix::alloc()->init(
      new_buffer(rows * row_bytes).get(), MPS::MatrixDescriptor::matrixDescriptor(rows, columns, row_bytes, type)));
}

Matrix MicroBench::new_matrix(size_t rows, size_t columns, MPS::DataType type, const std::vector<float>& numbers) {
  Matrix matrix = new_matrix(rows, columns, type);
  write(matrix.get(), numbers);
  return matrix;
}

void MicroBench::write(MPS::Matrix* matrix, const std::vector<float>& numbers) {
  const auto shared = NS::TransferPtr(device_->newBuffer(matrix->data()->length(), MTL::ResourceStorageModeShared));
  for (size_t i = 0; i < numbers.size(); ++i)
    if (matrix->dataType() == MPS::DataTypeFloat32)
      static_cast<float*>(shared->contents())[i] = numbers[i];
    else
      static_cast<uint16_t*>(shared->contents())[i] = device::to_bfloat(numbers[i]);
  copy(shared.get(), matrix->data());
}

std::vector<float> MicroBench::read(MPS::Matrix* matrix) {
  const auto shared = NS::TransferPtr(device_->newBuffer(matrix->data()->length(), MTL::ResourceStorageModeShared));
  copy(matrix->data(), shared.get());
  std::vector<float> numbers(matrix->rows() * matrix->columns());
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = matrix->dataType() == MPS::DataTypeFloat32
                     ? static_cast<const float*>(shared->contents())[i]
                     : device::from_bfloat(static_cast<const uint16_t*>(shared->contents())[i]);
  return numbers;
}

double MicroBench::time(const Encode& encode) {
  constexpr unsigned repetitions = 11, most_in_buffer = 20;
  const double once = run(encode);
  const auto times = unsigned(std::clamp(20000 / std::max(once, 1.0), 1.0, double{most_in_buffer}));
  std::vector<double> all(repetitions);
  for (double& one : all) one = run(encode, times);
  return median(all);
}

double MicroBench::run(const Encode& encode, unsigned times) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  MTL::CommandBuffer* commands = queue_->commandBuffer();
  for (unsigned i = 0; i < times; ++i) encode(commands);
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->status() != MTL::CommandBufferStatusCompleted)
    throw Failure{exit_source_error, commands->error()->localizedDescription()->utf8String()};
  return (commands->GPUEndTime() - commands->GPUStartTime()) * 1e6 / times;
}

void MicroBench::copy(MTL::Buffer* from, MTL::Buffer* to) {
  run([&](MTL::CommandBuffer* commands) { encode_copy(commands, from, to); });
}

void MicroBench::encode_copy(MTL::CommandBuffer* commands, MTL::Buffer* from, MTL::Buffer* to) {
  MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
  encoder->copyFromBuffer(from, 0, to, 0, from->length());
  encoder->endEncoding();
}

}  // namespace metalloid::tool
