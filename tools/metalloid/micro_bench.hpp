// What small benchmarks of Metal and MPS share: a device with memory of its own that they can fill and look into, and
// times of the device.
#pragma once

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <cstdint>
#include <functional>
#include <vector>

namespace metalloid::tool {

using Encode = std::function<void(MTL::CommandBuffer*)>;
using Matrix = NS::SharedPtr<MPS::Matrix>;

class MicroBench {
 public:
  explicit MicroBench(NS::SharedPtr<MTL::Device> device)
      : device_(device), queue_(NS::TransferPtr(device->newCommandQueue())) {}

  MTL::Device* device() const { return device_.get(); }

  // Of a kernel in tools/kernels, with these values of its function constants 0, 1, …
  NS::SharedPtr<MTL::ComputePipelineState> pipeline(const char* file, const char* kernel,
                                                    const std::vector<uint32_t>& constants = {});

  NS::SharedPtr<MTL::Buffer> new_buffer(size_t bytes);
  // Of Float32 or BFloat16.
  Matrix new_matrix(size_t rows, size_t columns, MPS::DataType type);
  Matrix new_matrix(size_t rows, size_t columns, MPS::DataType type, const std::vector<float>& numbers);
  void write(MPS::Matrix* matrix, const std::vector<float>& numbers);
  std::vector<float> read(MPS::Matrix* matrix);

  // Microseconds of the device for one, the median.
  double time(const Encode& encode);
  // For each of so many in one command buffer.
  double run(const Encode& encode, unsigned times = 1);
  static void encode_copy(MTL::CommandBuffer* commands, MTL::Buffer* from, MTL::Buffer* to);

 private:
  void copy(MTL::Buffer* from, MTL::Buffer* to);

  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
};

}  // namespace metalloid::tool
