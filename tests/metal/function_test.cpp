#include <chrono>
#include <future>

#include "metal_program.hpp"

namespace {

const std::string source = R"(
  #include <metal_stdlib>
  using namespace metal;
  template <typename T> kernel void scale(device T* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] *= 2; }
  template [[host_name("scale_float")]] kernel void scale<float>(device float*, uint);
  [[visible]] float twice(float x) { return 2 * x; }
)";

class Function : public MetalProgram {};

TEST_F(Function, IsFoundByItsHostName) {
  const auto library = this->library(source);
  const auto scale = function(library, "scale_float");
  EXPECT_EQ(text(scale->name()), "scale_float");
  EXPECT_EQ(scale->functionType(), MTL::FunctionTypeKernel);
  EXPECT_EQ(scale->device(), device.get());
  EXPECT_EQ(scale->patchType(), MTL::PatchTypeNone);
  EXPECT_EQ(scale->patchControlPointCount(), -1);
  EXPECT_EQ(scale->options(), MTL::FunctionOptions(MTL::FunctionOptionNone));
  EXPECT_EQ(scale->functionConstantsDictionary()->count(), 0u);
  EXPECT_EQ(function(library, "twice")->functionType(), MTL::FunctionTypeVisible);
}

TEST_F(Function, OutlivesItsLibrary) {
  auto library = this->library(source);
  const auto scale = function(library, "scale_float");
  library.reset();
  EXPECT_TRUE(pipeline(scale));
}

TEST_F(Function, HasALabelOfItsOwn) {
  const auto scale = function(library(source), "scale_float");
  EXPECT_EQ(scale->label(), nullptr);
  scale->setLabel(string("doubling"));
  EXPECT_EQ(text(scale->label()), "doubling");
}

TEST_F(Function, OfADescriptorHasTheNameThatTheDescriptorGives) {
  const auto library = this->library(source);
  MTL::FunctionDescriptor* descriptor = MTL::FunctionDescriptor::functionDescriptor();
  descriptor->setName(string("twice"));
  descriptor->setSpecializedName(string("double"));
  descriptor->setOptions(MTL::FunctionOptionCompileToBinary);
  NS::Error* error = nullptr;
  const auto function = NS::TransferPtr(library->newFunction(descriptor, &error));
  ASSERT_TRUE(function) << text(error);
  EXPECT_EQ(text(function->name()), "double");
  EXPECT_EQ(function->options(), MTL::FunctionOptions(MTL::FunctionOptionCompileToBinary));
}

TEST_F(Function, OfAnEmptyDescriptorIsAnError) {
  NS::Error* error = nullptr;
  EXPECT_EQ(library(source)->newFunction(MTL::FunctionDescriptor::functionDescriptor(), &error), nullptr);
  EXPECT_NE(error, nullptr);
}

TEST_F(Function, IsMadeInTheBackground) {
  const auto library = this->library(source);
  std::promise<std::string> found, missing;
  MTL::FunctionDescriptor* descriptor = MTL::FunctionDescriptor::functionDescriptor();
  descriptor->setName(string("scale_float"));
  library->newFunction(descriptor,
                       [&](MTL::Function* function, NS::Error*) { found.set_value(text(function->name())); });
  library->newFunction(string("absent"), nullptr,
                       [&](MTL::Function*, NS::Error* error) { missing.set_value(text(error)); });
  EXPECT_EQ(found.get_future().get(), "scale_float");
  EXPECT_NE(missing.get_future().get().find("'absent'"), std::string::npos);
}

TEST_F(Function, ForIntersectionsIsRefusedWithAReason) {
  const auto descriptor = NS::TransferPtr(MTL::IntersectionFunctionDescriptor::alloc()->init());
  descriptor->setName(string("twice"));
  EXPECT_EQ(text(descriptor->name()), "twice");
  const auto copy = NS::TransferPtr(descriptor->copy());
  EXPECT_EQ(text(copy->name()), "twice");
  NS::Error* error = nullptr;
  EXPECT_EQ(library(source)->newIntersectionFunction(descriptor.get(), &error), nullptr);
  EXPECT_NE(text(error).find("ray tracing"), std::string::npos) << text(error);
}

}  // namespace
