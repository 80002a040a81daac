// What tests of queues, command buffers and encoders share: a queue and a few kernels, compiled once per process.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "metal_program.hpp"

class CommandProgram : public MetalProgram {
 protected:
  const NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device->newCommandQueue());

  static constexpr const char* kernels = R"(
    #include <metal_stdlib>
    using namespace metal;

    kernel void nothing() {}

    kernel void add_one(device uint* data [[buffer(0)]], uint i [[thread_position_in_grid]]) { data[i] += 1; }

    kernel void add(device uint* data [[buffer(0)]], constant uint& value [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) { data[i] += value; }

    // Not the same in another order.
    kernel void append_digit(device uint* data [[buffer(0)]], constant uint& digit [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) { data[i] = data[i] * 10 + digit; }

    kernel void weighted_sum(device uint* sum [[buffer(0)]], device const uint* a [[buffer(1)]],
                             device const uint* b [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      sum[i] = a[i] + 100 * b[i];
    }

    kernel void places(device uint* data [[buffer(0)]], uint i [[thread_position_in_grid]],
                       uint threads [[threads_per_grid]], uint group_size [[threads_per_threadgroup]]) {
      data[i] = threads * 1000 + group_size;
    }

    kernel void through_threadgroup(device uint* data [[buffer(0)]], threadgroup uint* scratch [[threadgroup(0)]],
                                    uint i [[thread_position_in_threadgroup]],
                                    uint n [[threads_per_threadgroup]]) {
      scratch[i] = data[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      data[i] = scratch[n - 1 - i];
    }

    kernel void read_texture(device float4* texels [[buffer(0)]], texture2d<float> image [[texture(0)]],
                             uint i [[thread_position_in_grid]]) {
      texels[i] = image.read(uint2(i % image.get_width(), i / image.get_width()));
    }

    kernel void sample_level(device float* value [[buffer(0)]], texture2d<float> image [[texture(0)]],
                             sampler how [[sampler(0)]], constant float& lod [[buffer(1)]]) {
      *value = image.sample(how, float2(0.5f), level(lod)).x;
    }

    kernel void out_of_bounds(device uint* data [[buffer(0)]]) { data[1ul << 44] = 1; }
  )";

  MTL::ComputePipelineState* pipeline(const char* name) {
    static std::map<std::string, NS::SharedPtr<MTL::ComputePipelineState>> made;
    static const NS::SharedPtr<MTL::Library> compiled = library(kernels);
    auto& state = made[name];
    if (!state) state = MetalProgram::pipeline(function(compiled, name));
    return state.get();
  }

  NS::SharedPtr<MTL::Buffer> buffer(const std::vector<uint32_t>& values) {
    return NS::TransferPtr(
        device->newBuffer(values.data(), values.size() * sizeof(uint32_t), MTL::ResourceStorageModeShared));
  }

  static std::vector<uint32_t> values(const NS::SharedPtr<MTL::Buffer>& buffer) {
    const auto* first = static_cast<const uint32_t*>(buffer->contents());
    return {first, first + buffer->length() / sizeof(uint32_t)};
  }

  // An encoder with that pipeline, and the buffer at index 0.
  MTL::ComputeCommandEncoder* encode(MTL::CommandBuffer* commands, const char* kernel,
                                     const NS::SharedPtr<MTL::Buffer>& data = {}) {
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline(kernel));
    encoder->setBuffer(data.get(), 0, 0);
    return encoder;
  }

  // One thread for each number of the buffer.
  static void dispatch(MTL::ComputeCommandEncoder* encoder, const NS::SharedPtr<MTL::Buffer>& data) {
    const NS::UInteger threads = data->length() / sizeof(uint32_t);
    encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(std::min<NS::UInteger>(threads, 32), 1, 1));
  }

  void encode_append(MTL::CommandBuffer* commands, const NS::SharedPtr<MTL::Buffer>& data, uint32_t digit) {
    MTL::ComputeCommandEncoder* encoder = encode(commands, "append_digit", data);
    encoder->setBytes(&digit, sizeof digit, 1);
    dispatch(encoder, data);
    encoder->endEncoding();
  }

  void encode_add_one(MTL::CommandBuffer* commands, const NS::SharedPtr<MTL::Buffer>& data) {
    MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one", data);
    dispatch(encoder, data);
    encoder->endEncoding();
  }

  static void finish(MTL::CommandBuffer* commands) {
    commands->commit();
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted) << text(commands->error());
  }

  // The sentence with which the command buffer fails.
  static std::string failure(MTL::CommandBuffer* commands) {
    commands->commit();
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError);
    return text(commands->error());
  }
};
