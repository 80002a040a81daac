// The arguments of a function, in both forms that Metal has for them: MTL::Argument and, since macOS 13, a subclass of
// MTL::Binding for each kind.
#include <Metal/MTLTensor.hpp>
#include <utility>

#include "foundation/array.hpp"
#include "foundation/string.hpp"
#include "metal/function.hpp"
#include "metal/reflection.hpp"

namespace metalloid::metal {
namespace {

// What both forms have in common. An argument that a program made itself describes nothing.
struct ParameterPart {
  ParameterPart() = default;
  ParameterPart(const Parameter& parameter, LibraryReference library, bool used)
      : parameter(&parameter),
        used(used),
        library(std::move(library)),
        parameter_name(NS::TransferPtr(foundation::new_string(parameter.name))) {
    if (parameter.kind == ParameterKind::buffer)
      pointer = NS::TransferPtr(new_pointer_type(parameter.type, parameter.access, this->library));
  }
  virtual ~ParameterPart() = default;

  const Parameter* const parameter = nullptr;
  const bool used = false;
  const LibraryReference library;
  const NS::SharedPtr<NS::String> parameter_name;
  NS::SharedPtr<MTL::PointerType> pointer;  // of a buffer

  bool is(ParameterKind kind) const { return parameter && parameter->kind == kind; }
  const Type* type_of(ParameterKind kind) const { return is(kind) ? &parameter->type : nullptr; }
};

template <class Interface>
class BindingObject final : public Interface, public ParameterPart {
 public:
  using ParameterPart::ParameterPart;
  const char* className() const override { return "MTLBinding"; }
};

class ArgumentObject final : public MTL::Argument, public ParameterPart {
 public:
  using ParameterPart::ParameterPart;
  const char* className() const override { return "MTLArgument"; }
};

class PipelineReflectionObject final : public MTL::ComputePipelineReflection {
 public:
  NS::SharedPtr<NS::Array> argument_objects, binding_objects;
  const char* className() const override { return "MTLComputePipelineReflection"; }
};

class FunctionReflectionObject final : public MTL::FunctionReflection {
 public:
  NS::SharedPtr<NS::Array> binding_objects;
  const char* className() const override { return "MTLFunctionReflection"; }
};

bool is_argument(const Parameter& parameter) {
  return parameter.kind != ParameterKind::grid_value && parameter.kind != ParameterKind::value;
}

MTL::Binding* new_binding(const Parameter& parameter, LibraryReference library, bool used = true) {
  switch (parameter.kind) {
    case ParameterKind::buffer:
      return new BindingObject<MTL::BufferBinding>(parameter, std::move(library), used);
    case ParameterKind::threadgroup_memory:
      return new BindingObject<MTL::ThreadgroupBinding>(parameter, std::move(library), used);
    case ParameterKind::texture:
      return new BindingObject<MTL::TextureBinding>(parameter, std::move(library), used);
    default:
      return new BindingObject<MTL::Binding>(parameter, std::move(library), used);
  }
}

NS::SharedPtr<NS::Array> new_array(std::vector<NS::SharedPtr<NS::Object>> objects) {
  auto* array = new foundation::ArrayObject;
  array->objects = std::move(objects);
  return NS::TransferPtr<NS::Array>(array);
}

MTL::BindingType binding_type(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::threadgroup_memory:
      return MTL::BindingTypeThreadgroupMemory;
    case ParameterKind::texture:
      return MTL::BindingTypeTexture;
    case ParameterKind::sampler:
      return MTL::BindingTypeSampler;
    case ParameterKind::visible_function_table:
      return MTL::BindingTypeVisibleFunctionTable;
    default:
      return MTL::BindingTypeBuffer;
  }
}

const ParameterPart* part(const NS::Object* binding) {
  return dynamic_cast<const ParameterPart*>(binding);
}

// Accessors of the part, with the answers for an object that describes nothing.
NS::String* name_of(const ParameterPart* part) {
  return part ? part->parameter_name.get() : nullptr;
}

NS::UInteger index_of(const ParameterPart* part) {
  return part && part->parameter ? part->parameter->index : 0;
}

bool is_used(const ParameterPart* part) {
  return part && part->used;
}

MTL::BindingAccess access_of(const ParameterPart* part) {
  return part && part->parameter ? static_cast<MTL::BindingAccess>(part->parameter->access)
                                 : MTL::BindingAccessReadOnly;
}

MTL::BindingType type_of(const ParameterPart* part) {
  return part && part->parameter ? binding_type(part->parameter->kind) : MTL::BindingTypeBuffer;
}

NS::UInteger array_length_of(const ParameterPart* part) {
  return part && part->parameter ? part->parameter->array_length : 0;
}

NS::UInteger size_of(const ParameterPart* part, ParameterKind kind) {
  const Type* type = part ? part->type_of(kind) : nullptr;
  return type ? type->size : 0;
}

NS::UInteger alignment_of(const ParameterPart* part, ParameterKind kind) {
  const Type* type = part ? part->type_of(kind) : nullptr;
  return type ? type->alignment : 0;
}

MTL::DataType buffer_type_of(const ParameterPart* part) {
  const Type* type = part ? part->type_of(ParameterKind::buffer) : nullptr;
  return type ? static_cast<MTL::DataType>(type->data_type) : MTL::DataTypeNone;
}

MTL::PointerType* pointer_of(const ParameterPart* part) {
  return part ? part->pointer.get() : nullptr;
}

MTL::TextureType texture_type_of(const ParameterPart* part) {
  const Type* type = part ? part->type_of(ParameterKind::texture) : nullptr;
  return type ? static_cast<MTL::TextureType>(type->texture_type) : MTL::TextureType1D;
}

MTL::DataType texture_data_type_of(const ParameterPart* part) {
  const Type* type = part ? part->type_of(ParameterKind::texture) : nullptr;
  return type ? static_cast<MTL::DataType>(type->texture_data_type) : MTL::DataTypeNone;
}

}  // namespace

MTL::Argument* new_argument(const Parameter& parameter, LibraryReference library, bool used) {
  return new ArgumentObject(parameter, std::move(library), used);
}

const Parameter* parameter_of(const NS::Object* binding) {
  const ParameterPart* found = part(binding);
  return found ? found->parameter : nullptr;
}

MTL::FunctionReflection* new_function_reflection(const metalloid::Function& function, LibraryReference library) {
  std::vector<NS::SharedPtr<NS::Object>> bindings;
  for (const Parameter& parameter : function.parameters)
    if (is_argument(parameter)) bindings.push_back(NS::TransferPtr(new_binding(parameter, library)));
  auto* reflection = new FunctionReflectionObject;
  reflection->binding_objects = new_array(std::move(bindings));
  return reflection;
}

MTL::ComputePipelineReflection* new_pipeline_reflection(const FunctionObject& function,
                                                        const device::Pipeline& pipeline) {
  std::vector<NS::SharedPtr<NS::Object>> arguments, bindings;
  const LibraryReference& library = function.function.library;
  const Parameter* last = nullptr;  // an array of textures has several slots
  for (const device::Slot& slot : pipeline.slots) {
    const Parameter& parameter = function.reflection->parameters[slot.parameter];
    if (std::exchange(last, &parameter) == &parameter) continue;
    arguments.push_back(NS::TransferPtr(new_argument(parameter, library, slot.used)));
    bindings.push_back(NS::TransferPtr(new_binding(parameter, library, slot.used)));
  }
  auto* reflection = new PipelineReflectionObject;
  reflection->argument_objects = new_array(std::move(arguments));
  reflection->binding_objects = new_array(std::move(bindings));
  return reflection;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;
using metalloid::ParameterKind;

ComputePipelineReflection* ComputePipelineReflection::alloc() {
  return new PipelineReflectionObject;
}

ComputePipelineReflection* ComputePipelineReflection::init() {
  return this;
}

NS::Array* ComputePipelineReflection::arguments() const {
  const auto* self = static_cast<const PipelineReflectionObject*>(this);
  return self ? self->argument_objects.get() : nullptr;
}

NS::Array* ComputePipelineReflection::bindings() const {
  const auto* self = static_cast<const PipelineReflectionObject*>(this);
  return self ? self->binding_objects.get() : nullptr;
}

FunctionReflection* FunctionReflection::alloc() {
  return new FunctionReflectionObject;
}

FunctionReflection* FunctionReflection::init() {
  return this;
}

NS::Array* FunctionReflection::bindings() const {
  const auto* self = static_cast<const FunctionReflectionObject*>(this);
  return self ? self->binding_objects.get() : nullptr;
}

Argument* Argument::alloc() {
  return new ArgumentObject;
}

Argument* Argument::init() {
  return this;
}

// The same question, asked of either form.
#define ANSWER(Result, Class, method, answer) \
  Result Class::method() const {              \
    return answer;                            \
  }

ANSWER(NS::String*, Argument, name, name_of(part(this)))
ANSWER(ArgumentType, Argument, type, static_cast<ArgumentType>(type_of(part(this))))
ANSWER(BindingAccess, Argument, access, access_of(part(this)))
ANSWER(NS::UInteger, Argument, index, index_of(part(this)))
ANSWER(bool, Argument, isActive, is_used(part(this)))
ANSWER(NS::UInteger, Argument, arrayLength, array_length_of(part(this)))
ANSWER(NS::UInteger, Argument, bufferAlignment, alignment_of(part(this), ParameterKind::buffer))
ANSWER(NS::UInteger, Argument, bufferDataSize, size_of(part(this), ParameterKind::buffer))
ANSWER(DataType, Argument, bufferDataType, buffer_type_of(part(this)))
ANSWER(PointerType*, Argument, bufferPointerType, pointer_of(part(this)))
ANSWER(StructType*, Argument, bufferStructType, pointer_of(part(this))->elementStructType())
ANSWER(NS::UInteger, Argument, threadgroupMemoryAlignment, alignment_of(part(this), ParameterKind::threadgroup_memory))
ANSWER(NS::UInteger, Argument, threadgroupMemoryDataSize, size_of(part(this), ParameterKind::threadgroup_memory))
ANSWER(TextureType, Argument, textureType, texture_type_of(part(this)))
ANSWER(DataType, Argument, textureDataType, texture_data_type_of(part(this)))
ANSWER(bool, Argument, isDepthTexture, false)

ANSWER(NS::String*, Binding, name, name_of(part(this)))
ANSWER(BindingType, Binding, type, type_of(part(this)))
ANSWER(BindingAccess, Binding, access, access_of(part(this)))
ANSWER(NS::UInteger, Binding, index, index_of(part(this)))
ANSWER(bool, Binding, isUsed, is_used(part(this)))
ANSWER(bool, Binding, isArgument, parameter_of(this) != nullptr)

ANSWER(NS::UInteger, BufferBinding, bufferAlignment, alignment_of(part(this), ParameterKind::buffer))
ANSWER(NS::UInteger, BufferBinding, bufferDataSize, size_of(part(this), ParameterKind::buffer))
ANSWER(DataType, BufferBinding, bufferDataType, buffer_type_of(part(this)))
ANSWER(PointerType*, BufferBinding, bufferPointerType, pointer_of(part(this)))
ANSWER(StructType*, BufferBinding, bufferStructType, pointer_of(part(this))->elementStructType())

ANSWER(NS::UInteger, ThreadgroupBinding, threadgroupMemoryAlignment,
       alignment_of(part(this), ParameterKind::threadgroup_memory))
ANSWER(NS::UInteger, ThreadgroupBinding, threadgroupMemoryDataSize,
       size_of(part(this), ParameterKind::threadgroup_memory))

ANSWER(NS::UInteger, TextureBinding, arrayLength, array_length_of(part(this)))
ANSWER(TextureType, TextureBinding, textureType, texture_type_of(part(this)))
ANSWER(DataType, TextureBinding, textureDataType, texture_data_type_of(part(this)))
ANSWER(bool, TextureBinding, isDepthTexture, false)

// No compute function has these.
ANSWER(NS::UInteger, ObjectPayloadBinding, objectPayloadAlignment, 0)
ANSWER(NS::UInteger, ObjectPayloadBinding, objectPayloadDataSize, 0)
ANSWER(TensorExtents*, TensorBinding, dimensions, nullptr)
ANSWER(DataType, TensorBinding, indexType, DataTypeNone)
ANSWER(TensorDataType, TensorBinding, tensorDataType, TensorDataTypeNone)

}  // namespace MTL
