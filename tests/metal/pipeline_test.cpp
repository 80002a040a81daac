#include <cstdlib>
#include <future>

#include "metal_program.hpp"

namespace {

const std::string source = R"(
  #include <metal_stdlib>
  using namespace metal;
  kernel void index(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = i; }

  [[max_total_threads_per_threadgroup(64)]]
  kernel void small(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = i; }

  kernel void shared_memory(device uint* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    threadgroup uint memory[256];
    memory[i % 256] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = memory[(i + 1) % 256];
  }

  kernel void too_much_memory(device uint* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    threadgroup uint memory[100000];
    memory[i] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = memory[i + 1];
  }

  [[visible]] uint plus_one(uint x) { return x + 1; }
  [[visible]] uint times_three(uint x) { return x * 3; }

  kernel void apply(device uint* out [[buffer(0)]],
                    visible_function_table<uint(uint)> table [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    out[i] = table[i % 2](i);
  }
)";

class Pipeline : public MetalProgram {
 protected:
  ~Pipeline() override { unsetenv("MTL_SHADER_VALIDATION"); }

  const NS::SharedPtr<MTL::Library> library = MetalProgram::library(source);
  const NS::SharedPtr<MTL::ComputePipelineDescriptor> descriptor =
      NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());

  NS::SharedPtr<MTL::ComputePipelineState> described(NS::Error** error = nullptr) {
    NS::Error* reason = nullptr;
    auto state = NS::TransferPtr(
        device->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, error ? error : &reason));
    EXPECT_TRUE(state || error) << text(reason);
    return state;
  }

  std::string refusal() {
    NS::Error* error = nullptr;
    EXPECT_FALSE(described(&error));
    return text(error);
  }

  void link(std::initializer_list<const char*> names) {
    std::vector<NS::SharedPtr<MTL::Function>> functions;
    std::vector<const NS::Object*> objects;
    for (const char* name : names) {
      functions.push_back(function(library, name));
      objects.push_back(functions.back().get());
    }
    MTL::LinkedFunctions* linked = MTL::LinkedFunctions::linkedFunctions();
    linked->setFunctions(NS::Array::array(objects.data(), objects.size()));
    descriptor->setLinkedFunctions(linked);
  }
};

TEST_F(Pipeline, OfAFunctionRuns) {
  const auto state = pipeline(function(library, "index"));
  EXPECT_EQ(run<unsigned>(state, 4), (std::vector{0u, 1u, 2u, 3u}));
  EXPECT_EQ(state->device(), device.get());
  EXPECT_EQ(state->threadExecutionWidth(), 32u);
  EXPECT_EQ(state->maxTotalThreadsPerThreadgroup(), 1024u);
  EXPECT_EQ(state->staticThreadgroupMemoryLength(), 0u);
  EXPECT_FALSE(state->supportIndirectCommandBuffers());
}

TEST_F(Pipeline, KnowsTheThreadgroupMemoryOfItsKernel) {
  EXPECT_EQ(pipeline(function(library, "shared_memory"))->staticThreadgroupMemoryLength(), 1024u);
}

TEST_F(Pipeline, HasTheThreadLimitOfItsKernelAndOfItsDescriptor) {
  EXPECT_EQ(pipeline(function(library, "small"))->maxTotalThreadsPerThreadgroup(), 64u);
  descriptor->setComputeFunction(function(library, "index").get());
  descriptor->setMaxTotalThreadsPerThreadgroup(128);
  EXPECT_EQ(described()->maxTotalThreadsPerThreadgroup(), 128u);
  descriptor->setMaxTotalThreadsPerThreadgroup(4096);
  EXPECT_NE(refusal().find("4096"), std::string::npos);
}

TEST_F(Pipeline, HasWhatItsDescriptorSays) {
  descriptor->setComputeFunction(function(library, "index").get());
  descriptor->setLabel(string("numbering"));
  descriptor->setSupportIndirectCommandBuffers(true);
  descriptor->setRequiredThreadsPerThreadgroup(MTL::Size(8, 4, 1));
  const auto state = described();
  EXPECT_EQ(text(state->label()), "numbering");
  EXPECT_TRUE(state->supportIndirectCommandBuffers());
  EXPECT_EQ(state->requiredThreadsPerThreadgroup().height, 4u);
}

TEST_F(Pipeline, DescriptorIsCopiedWithItsBuffers) {
  descriptor->setLabel(string("first"));
  descriptor->buffers()->object(3)->setMutability(MTL::MutabilityImmutable);
  const auto copy = NS::TransferPtr(descriptor->copy());
  descriptor->setLabel(string("second"));
  descriptor->buffers()->object(3)->setMutability(MTL::MutabilityMutable);
  EXPECT_EQ(text(copy->label()), "first");
  EXPECT_EQ(copy->buffers()->object(3)->mutability(), MTL::MutabilityImmutable);
  EXPECT_EQ(copy->buffers()->object(31), nullptr);
  copy->reset();
  EXPECT_EQ(copy->label(), nullptr);
  EXPECT_EQ(copy->buffers()->object(3)->mutability(), MTL::MutabilityDefault);
}

TEST_F(Pipeline, WithoutAFunctionIsAnError) {
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newComputePipelineState(static_cast<MTL::Function*>(nullptr), &error), nullptr);
  EXPECT_NE(text(error).find("needs a function"), std::string::npos) << text(error);
  EXPECT_NE(refusal().find("needs a function"), std::string::npos);
}

TEST_F(Pipeline, OfAVisibleFunctionIsAnError) {
  descriptor->setComputeFunction(function(library, "plus_one").get());
  const std::string message = refusal();
  EXPECT_NE(message.find("'plus_one'"), std::string::npos) << message;
  EXPECT_NE(message.find("kernel"), std::string::npos) << message;
}

TEST_F(Pipeline, WithTooMuchThreadgroupMemoryIsAnErrorThatSaysHowMuch) {
  descriptor->setComputeFunction(function(library, "too_much_memory").get());
  const std::string message = refusal();
  EXPECT_NE(message.find("400000"), std::string::npos) << message;
  EXPECT_NE(message.find(std::to_string(device->maxThreadgroupMemoryLength())), std::string::npos) << message;
}

TEST_F(Pipeline, IsMadeInTheBackground) {
  std::promise<NS::UInteger> plain;
  std::promise<NS::UInteger> reflected;
  std::promise<std::string> refused;
  const auto index = function(library, "index");
  device->newComputePipelineState(index.get(), [&](MTL::ComputePipelineState* state, NS::Error*) {
    plain.set_value(state->threadExecutionWidth());
  });
  device->newComputePipelineState(index.get(), MTL::PipelineOptionBindingInfo,
                                  [&](MTL::ComputePipelineState*, MTL::ComputePipelineReflection* reflection,
                                      NS::Error*) { reflected.set_value(reflection->bindings()->count()); });
  device->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone,
                                  [&](MTL::ComputePipelineState*, MTL::ComputePipelineReflection*, NS::Error* error) {
                                    refused.set_value(text(error));
                                  });
  EXPECT_EQ(plain.get_future().get(), 32u);
  EXPECT_EQ(reflected.get_future().get(), 1u);
  EXPECT_NE(refused.get_future().get().find("needs a function"), std::string::npos);
}

TEST_F(Pipeline, CallsLinkedFunctionsThroughATable) {
  descriptor->setComputeFunction(function(library, "apply").get());
  link({"plus_one", "times_three"});
  const auto state = described();
  ASSERT_TRUE(state);
  MTL::VisibleFunctionTableDescriptor* size = MTL::VisibleFunctionTableDescriptor::visibleFunctionTableDescriptor();
  size->setFunctionCount(2);
  const auto table = NS::TransferPtr(state->newVisibleFunctionTable(size));
  ASSERT_TRUE(table);
  MTL::FunctionHandle* plus_one = state->functionHandle(function(library, "plus_one").get());
  ASSERT_NE(plus_one, nullptr);
  EXPECT_EQ(text(plus_one->name()), "plus_one");
  EXPECT_EQ(plus_one->functionType(), MTL::FunctionTypeVisible);
  table->setFunction(plus_one, 0);
  table->setFunction(state->functionHandle(string("times_three")), 1);
  EXPECT_NE(table->gpuResourceID()._impl, 0u);
  EXPECT_EQ(run<unsigned>(state, 4, table.get()), (std::vector{1u, 3u, 3u, 9u}));
}

TEST_F(Pipeline, HasNoHandleOfAFunctionThatIsNotLinked) {
  descriptor->setComputeFunction(function(library, "apply").get());
  link({"plus_one"});
  const auto state = described();
  EXPECT_EQ(state->functionHandle(function(library, "times_three").get()), nullptr);
  EXPECT_EQ(state->functionHandle(string("times_three")), nullptr);
}

TEST_F(Pipeline, TakesMoreFunctionsIfItsDescriptorSaysSo) {
  descriptor->setComputeFunction(function(library, "apply").get());
  link({"plus_one"});
  const auto closed = described();
  const auto more = function(library, "times_three");
  NS::Error* error = nullptr;
  EXPECT_EQ(closed->newComputePipelineState(NS::Array::array(more.get()), &error), nullptr);
  EXPECT_NE(text(error).find("setSupportAddingBinaryFunctions"), std::string::npos) << text(error);

  descriptor->setSupportAddingBinaryFunctions(true);
  const auto extended = NS::TransferPtr(described()->newComputePipelineState(NS::Array::array(more.get()), &error));
  ASSERT_TRUE(extended) << text(error);
  EXPECT_NE(extended->functionHandle(more.get()), nullptr);
  EXPECT_NE(extended->functionHandle(string("plus_one")), nullptr);
}

TEST_F(Pipeline, CannotLinkAKernel) {
  descriptor->setComputeFunction(function(library, "apply").get());
  link({"index"});
  EXPECT_NE(refusal().find("'index'"), std::string::npos);
}

TEST_F(Pipeline, IsValidatedIfTheEnvironmentOrItsDescriptorSaysSo) {
  descriptor->setComputeFunction(function(library, "index").get());
  EXPECT_EQ(described()->shaderValidation(), MTL::ShaderValidationDisabled);
  descriptor->setShaderValidation(MTL::ShaderValidationEnabled);
  EXPECT_EQ(described()->shaderValidation(), MTL::ShaderValidationEnabled);
  setenv("MTL_SHADER_VALIDATION", "1", 1);
  EXPECT_EQ(pipeline(function(library, "index"))->shaderValidation(), MTL::ShaderValidationEnabled);
  descriptor->setShaderValidation(MTL::ShaderValidationDisabled);
  EXPECT_EQ(described()->shaderValidation(), MTL::ShaderValidationDisabled);
}

TEST_F(Pipeline, HasTheLimitsThatItsLibraryWasCompiledWith) {
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setMaxTotalThreadsPerThreadgroup(96);
  NS::Error* error = nullptr;
  const auto limited = NS::TransferPtr(device->newLibrary(string(source), options.get(), &error));
  ASSERT_TRUE(limited) << text(error);
  EXPECT_EQ(pipeline(function(limited, "index"))->maxTotalThreadsPerThreadgroup(), 96u);
}

}  // namespace
