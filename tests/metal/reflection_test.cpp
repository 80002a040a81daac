#include "metal_program.hpp"

namespace {

const std::string source = R"(
  #include <metal_stdlib>
  using namespace metal;
  constant bool with_bias [[function_constant(0)]];

  struct Inner { float2 scale; uint count; };
  struct Outer { float4 colour; Inner inner[3]; half small; };
  struct Arguments { device float* data [[id(0)]]; texture2d<float> image [[id(1)]]; uint size [[id(2)]]; };

  kernel void everything(constant Outer& outer [[buffer(0)]],
                         device float* values [[buffer(2)]],
                         const device int4* numbers [[buffer(1)]],
                         texture2d<half, access::write> image [[texture(3)]],
                         array<texture2d<float>, 2> images [[texture(5)]],
                         sampler linear [[sampler(1)]],
                         threadgroup float4* memory [[threadgroup(0)]],
                         device float* bias [[buffer(7), function_constant(with_bias)]],
                         device Arguments& arguments [[buffer(9)]],
                         uint i [[thread_position_in_grid]]) {
    memory[0] = outer.colour;
    values[i] = float(numbers[i].x) + memory[0].x + arguments.data[i];
    if (with_bias) values[i] += bias[i];
    image.write(half4(images[0].sample(linear, float2(0, 0))), uint2(0, 0));
  }
)";

class Reflection : public MetalProgram {
 protected:
  const NS::SharedPtr<MTL::Library> library = MetalProgram::library(source);

  NS::SharedPtr<MTL::Function> everything(bool with_bias) {
    const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    values->setConstantValue(&with_bias, MTL::DataTypeBool, NS::UInteger(0));
    NS::Error* error = nullptr;
    auto function = NS::TransferPtr(library->newFunction(string("everything"), values.get(), &error));
    EXPECT_TRUE(function) << text(error);
    return function;
  }

  MTL::ComputePipelineReflection* reflection(bool with_bias = false) {
    NS::Error* error = nullptr;
    MTL::AutoreleasedComputePipelineReflection reflection = nullptr;
    state = NS::TransferPtr(device->newComputePipelineState(
        everything(with_bias).get(), MTL::PipelineOptionBindingInfo | MTL::PipelineOptionBufferTypeInfo, &reflection,
        &error));
    EXPECT_TRUE(state) << text(error);
    EXPECT_NE(reflection, nullptr);
    return reflection;
  }

  template <class Class = MTL::Binding>
  static Class* named(const NS::Array* bindings, const char* name) {
    for (NS::UInteger i = 0; i < bindings->count(); ++i)
      if (text(bindings->object<MTL::Binding>(i)->name()) == name) return bindings->object<Class>(i);
    return nullptr;
  }

  NS::SharedPtr<MTL::ComputePipelineState> state;
};

TEST_F(Reflection, IsOnlyGivenWhenAskedFor) {
  MTL::AutoreleasedComputePipelineReflection reflection = reinterpret_cast<MTL::ComputePipelineReflection*>(1);
  NS::Error* error = nullptr;
  const auto state = NS::TransferPtr(
      device->newComputePipelineState(everything(false).get(), MTL::PipelineOptionNone, &reflection, &error));
  ASSERT_TRUE(state) << text(error);
  EXPECT_EQ(reflection, nullptr);
  EXPECT_NE(state->reflection(), nullptr);
}

TEST_F(Reflection, ListsTheBindingsOfAKernelWithTheirIndices) {
  const NS::Array* bindings = reflection()->bindings();
  EXPECT_EQ(bindings->count(), 8u);
  struct Expected {
    const char* name;
    MTL::BindingType type;
    NS::UInteger index;
    MTL::BindingAccess access;
  };
  for (const Expected& expected : {
           Expected{"outer", MTL::BindingTypeBuffer, 0, MTL::BindingAccessReadOnly},
           Expected{"values", MTL::BindingTypeBuffer, 2, MTL::BindingAccessReadWrite},
           Expected{"numbers", MTL::BindingTypeBuffer, 1, MTL::BindingAccessReadOnly},
           Expected{"image", MTL::BindingTypeTexture, 3, MTL::BindingAccessWriteOnly},
           Expected{"images", MTL::BindingTypeTexture, 5, MTL::BindingAccessReadOnly},
           Expected{"linear", MTL::BindingTypeSampler, 1, MTL::BindingAccessReadOnly},
           Expected{"memory", MTL::BindingTypeThreadgroupMemory, 0, MTL::BindingAccessReadWrite},
       }) {
    const MTL::Binding* binding = named(bindings, expected.name);
    ASSERT_NE(binding, nullptr) << expected.name;
    EXPECT_EQ(binding->type(), expected.type) << expected.name;
    EXPECT_EQ(binding->index(), expected.index) << expected.name;
    EXPECT_EQ(binding->access(), expected.access) << expected.name;
    EXPECT_TRUE(binding->isUsed()) << expected.name;
  }
}

TEST_F(Reflection, LeavesOutArgumentsThatAConstantSwitchesOff) {
  EXPECT_EQ(named(reflection(false)->bindings(), "bias"), nullptr);
  const MTL::Binding* bias = named(reflection(true)->bindings(), "bias");
  ASSERT_NE(bias, nullptr);
  EXPECT_EQ(bias->index(), 7u);
}

TEST_F(Reflection, DescribesPlainBuffers) {
  const auto* numbers = named<MTL::BufferBinding>(reflection()->bindings(), "numbers");
  EXPECT_EQ(numbers->bufferDataType(), MTL::DataTypeInt4);
  EXPECT_EQ(numbers->bufferDataSize(), 16u);
  EXPECT_EQ(numbers->bufferAlignment(), 16u);
  EXPECT_EQ(numbers->bufferStructType(), nullptr);
  ASSERT_NE(numbers->bufferPointerType(), nullptr);
  EXPECT_EQ(numbers->bufferPointerType()->dataType(), MTL::DataTypePointer);
  EXPECT_EQ(numbers->bufferPointerType()->elementType(), MTL::DataTypeInt4);
  EXPECT_EQ(numbers->bufferPointerType()->access(), MTL::BindingAccessReadOnly);
}

TEST_F(Reflection, DescribesStructsDownToTheirMembers) {
  const auto* outer = named<MTL::BufferBinding>(reflection()->bindings(), "outer");
  MTL::StructType* type = outer->bufferStructType();
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->dataType(), MTL::DataTypeStruct);
  EXPECT_EQ(outer->bufferDataSize(), 80u);
  ASSERT_EQ(type->members()->count(), 3u);
  MTL::StructMember* inner = type->memberByName(string("inner"));
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner, type->members()->object(1));
  EXPECT_EQ(inner->offset(), 16u);
  EXPECT_EQ(inner->dataType(), MTL::DataTypeArray);
  MTL::ArrayType* array = inner->arrayType();
  ASSERT_NE(array, nullptr);
  EXPECT_EQ(array->arrayLength(), 3u);
  EXPECT_EQ(array->stride(), 16u);
  EXPECT_EQ(array->elementType(), MTL::DataTypeStruct);
  EXPECT_EQ(array->elementArrayType(), nullptr);
  MTL::StructType* element = array->elementStructType();
  ASSERT_NE(element, nullptr);
  EXPECT_EQ(element->memberByName(string("count"))->offset(), 8u);
  EXPECT_EQ(element->memberByName(string("count"))->dataType(), MTL::DataTypeUInt);
  EXPECT_EQ(type->memberByName(string("small"))->dataType(), MTL::DataTypeHalf);
  EXPECT_EQ(type->memberByName(string("none")), nullptr);
}

TEST_F(Reflection, DescribesArgumentBuffers) {
  const auto* arguments = named<MTL::BufferBinding>(reflection()->bindings(), "arguments");
  EXPECT_TRUE(arguments->bufferPointerType()->elementIsArgumentBuffer());
  MTL::StructType* type = arguments->bufferStructType();
  MTL::StructMember* data = type->memberByName(string("data"));
  ASSERT_NE(data->pointerType(), nullptr);
  EXPECT_EQ(data->pointerType()->elementType(), MTL::DataTypeFloat);
  EXPECT_EQ(data->argumentIndex(), 0u);
  MTL::StructMember* image = type->memberByName(string("image"));
  ASSERT_NE(image->textureReferenceType(), nullptr);
  EXPECT_EQ(image->textureReferenceType()->textureType(), MTL::TextureType2D);
  EXPECT_EQ(image->textureReferenceType()->textureDataType(), MTL::DataTypeFloat);
  EXPECT_EQ(image->argumentIndex(), 1u);
  EXPECT_EQ(image->pointerType(), nullptr);
}

TEST_F(Reflection, DescribesTexturesAndThreadgroupMemory) {
  const NS::Array* bindings = reflection()->bindings();
  const auto* image = named<MTL::TextureBinding>(bindings, "image");
  EXPECT_EQ(image->textureType(), MTL::TextureType2D);
  EXPECT_EQ(image->textureDataType(), MTL::DataTypeHalf);
  EXPECT_EQ(image->arrayLength(), 1u);
  EXPECT_EQ(named<MTL::TextureBinding>(bindings, "images")->arrayLength(), 2u);
  const auto* memory = named<MTL::ThreadgroupBinding>(bindings, "memory");
  EXPECT_EQ(memory->threadgroupMemoryDataSize(), 16u);
  EXPECT_EQ(memory->threadgroupMemoryAlignment(), 16u);
}

TEST_F(Reflection, HasTheOlderFormOfArgumentsAsWell) {
  const NS::Array* arguments = reflection()->arguments();
  EXPECT_EQ(arguments->count(), 8u);
  const auto* outer = arguments->object<MTL::Argument>(0);
  EXPECT_EQ(text(outer->name()), "outer");
  EXPECT_EQ(outer->type(), MTL::ArgumentTypeBuffer);
  EXPECT_TRUE(outer->isActive());
  EXPECT_EQ(outer->bufferDataSize(), 80u);
  EXPECT_NE(outer->bufferStructType(), nullptr);
  EXPECT_EQ(outer->textureDataType(), MTL::DataTypeNone);
}

TEST_F(Reflection, SaysWhichArgumentsAreUsed) {
  const auto state = pipeline(function(MetalProgram::library(R"(
    kernel void f(device float* out [[buffer(0)]], constant float& unused [[buffer(1)]],
                  metal::texture2d<float> image [[texture(0)]]) { out[0] = 1; })"),
                                       "f"));
  const NS::Array* bindings = state->reflection()->bindings();
  EXPECT_EQ(bindings->count(), 3u);
  EXPECT_TRUE(named(bindings, "out")->isUsed());
  EXPECT_FALSE(named(bindings, "unused")->isUsed());
  EXPECT_FALSE(named(bindings, "image")->isUsed());
  EXPECT_FALSE(state->reflection()->arguments()->object<MTL::Argument>(1)->isActive());
}

TEST_F(Reflection, OfALibrarysFunctionNeedsNoPipeline) {
  const MTL::FunctionReflection* reflection = library->reflectionForFunction(string("everything"));
  ASSERT_NE(reflection, nullptr);
  EXPECT_EQ(reflection->bindings()->count(), 9u);
  EXPECT_EQ(library->reflectionForFunction(string("nothing")), nullptr);
}

TEST_F(Reflection, OutlivesThePipelineItCameFrom) {
  const auto kept = NS::RetainPtr(reflection());
  state.reset();
  EXPECT_EQ(named<MTL::BufferBinding>(kept->bindings(), "outer")->bufferStructType()->members()->count(), 3u);
}

}  // namespace
