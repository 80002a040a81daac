// What tests of resources share: a kernel made from source and run once with the resources that it is given.
#pragma once

#include <algorithm>
#include <functional>

#include "metal_program.hpp"

class ResourceProgram : public MetalProgram {
 protected:
  NS::SharedPtr<MTL::Function> function_from(const std::string& source, const std::string& name) {
    return function(library(source), name);
  }

  // Runs `threads` threads in one dimension and waits; `bind` sets the arguments.
  void run_kernel(const NS::SharedPtr<MTL::Function>& function, NS::UInteger threads,
                  const std::function<void(MTL::ComputeCommandEncoder*)>& bind) {
    const auto state = pipeline(function);
    ASSERT_TRUE(state);
    const auto queue = NS::TransferPtr(device->newCommandQueue());
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    bind(encoder);
    encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(std::min<NS::UInteger>(threads, 32), 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    ASSERT_EQ(commands->status(), MTL::CommandBufferStatusCompleted) << text(commands->error());
  }
};
