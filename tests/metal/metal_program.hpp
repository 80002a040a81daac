// What a test of the Metal API starts with: a device, a pool, and short ways to make a library and a pipeline. All of
// it is what a program written for metal-cpp would do.
#pragma once

#include <gtest/gtest.h>

#include <Metal/Metal.hpp>
#include <string>
#include <vector>

class MetalProgram : public testing::Test {
 protected:
  const NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());

  static NS::String* string(const std::string& text) {
    return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
  }

  static std::string text(const NS::String* string) { return string ? string->utf8String() : "(nil)"; }
  static std::string text(const NS::Error* error) { return error ? text(error->localizedDescription()) : "(no error)"; }

  NS::SharedPtr<MTL::Library> library(const std::string& source) {
    NS::Error* error = nullptr;
    auto library = NS::TransferPtr(device->newLibrary(string(source), nullptr, &error));
    EXPECT_TRUE(library) << text(error);
    return library;
  }

  static NS::SharedPtr<MTL::Function> function(const NS::SharedPtr<MTL::Library>& library, const std::string& name) {
    auto function = NS::TransferPtr(library->newFunction(string(name)));
    EXPECT_TRUE(function) << name;
    return function;
  }

  NS::SharedPtr<MTL::ComputePipelineState> pipeline(const NS::SharedPtr<MTL::Function>& function) {
    NS::Error* error = nullptr;
    auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
    EXPECT_TRUE(pipeline) << text(error);
    return pipeline;
  }

  // Runs one threadgroup with an output buffer of `count` numbers at index 0, and gives what is in it then.
  template <class Number>
  std::vector<Number> run(const NS::SharedPtr<MTL::ComputePipelineState>& pipeline, size_t count,
                          MTL::VisibleFunctionTable* table = nullptr) {
    const auto queue = NS::TransferPtr(device->newCommandQueue());
    const auto buffer = NS::TransferPtr(device->newBuffer(count * sizeof(Number), MTL::ResourceStorageModeShared));
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline.get());
    encoder->setBuffer(buffer.get(), 0, 0);
    if (table) encoder->setVisibleFunctionTable(table, 1);
    encoder->dispatchThreads(MTL::Size(count, 1, 1), MTL::Size(count, 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted) << text(commands->error());
    const auto* numbers = static_cast<const Number*>(buffer->contents());
    return {numbers, numbers + count};
  }
};
