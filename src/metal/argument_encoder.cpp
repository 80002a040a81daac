// Argument encoders write addresses and handles into a buffer, each where the shader's struct has it.
#include <fmt/format.h>

#include <Foundation/NSArray.hpp>
#include <Metal/MTLArgumentEncoder.hpp>
#include <Metal/MTLComputePipeline.hpp>
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLIndirectCommandBuffer.hpp>
#include <Metal/MTLVisibleFunctionTable.hpp>
#include <cstring>
#include <memory>

#include "foundation/array.hpp"
#include "metal/argument_layout.hpp"
#include "metal/buffer.hpp"
#include "metal/device.hpp"
#include "metal/function.hpp"
#include "metal/misuse.hpp"
#include "metal/reflection.hpp"
#include "metal/sampler.hpp"
#include "metal/texture.hpp"

namespace metalloid::metal {

class ArgumentEncoderObject final : public MTL::ArgumentEncoder {
 public:
  DeviceObject* const device;
  const std::shared_ptr<const Type> root;  // owns `type`
  const Type* const type;
  NS::SharedPtr<NS::String> label;

  ArgumentEncoderObject(DeviceObject* device, std::shared_ptr<const Type> root, const Type* type)
      : device(device), root(std::move(root)), type(type) {}

  void set_argument_buffer(const MTL::Buffer* buffer, uint64_t offset, Call call) {
    buffer_ = foundation::retained(buffer);
    destination_ = nullptr;
    const BufferObject* into = body(buffer);
    if (!into) return;
    if (!into->host) return report_misuse(nullptr, "the argument buffer is private to the device", call);
    if (offset % std::max(type->alignment, 1u) != 0)
      return report_misuse(nullptr, fmt::format("offset {} must be a multiple of {}", offset, type->alignment), call);
    if (offset > into->length || type->size > into->length - offset)
      return report_misuse(nullptr,
                           fmt::format("{} bytes at offset {} are not in an argument buffer of {} bytes", type->size,
                                       offset, into->length),
                           call);
    destination_ = into->host + offset;
  }

  // Where the argument with this index is written; null, and a report, if it cannot be.
  uint8_t* destination(NS::UInteger index, std::optional<DataType> expected, Call call) const {
    const auto place = find_argument(*type, index);
    std::string wrong;
    if (!destination_) wrong = "there is no argument buffer to write into";
    if (!place) wrong = fmt::format("the argument buffer has no argument with index {}", index);
    if (place && expected && place->type->data_type != *expected)
      wrong = fmt::format("argument {} is of type {}, not {}", index, to_string(place->type->data_type),
                          to_string(*expected));
    if (wrong.empty()) return destination_ + place->offset;
    report_misuse(nullptr, wrong, call);
    return nullptr;
  }

  void write(NS::UInteger index, DataType expected, uint64_t value, Call call) const {
    if (uint8_t* at = destination(index, expected, call)) std::memcpy(at, &value, sizeof value);
  }

  const char* className() const override { return "MTLArgumentEncoder"; }

 private:
  NS::SharedPtr<MTL::Buffer> buffer_;
  uint8_t* destination_ = nullptr;
};

namespace {

ArgumentEncoderObject* body(const MTL::ArgumentEncoder* encoder) {
  return static_cast<ArgumentEncoderObject*>(const_cast<MTL::ArgumentEncoder*>(encoder));
}

MTL::ArgumentEncoder* new_encoder(DeviceObject* device, Type type) {
  auto root = std::make_shared<const Type>(std::move(type));
  return new ArgumentEncoderObject(device, root, root.get());
}

bool can_be_encoded(const Type& type) {
  return type.size > 0 && (type.data_type == DataType::structure || type.data_type == DataType::array);
}

MTL::ArgumentEncoder* new_encoder_for(DeviceObject* device, const Parameter* parameter, Call call) {
  if (parameter && parameter->kind == ParameterKind::buffer && can_be_encoded(parameter->type))
    return new_encoder(device, parameter->type);
  report_misuse(nullptr, "the function has no argument buffer there", call);
  return nullptr;
}

const Parameter* buffer_parameter(const FunctionObject& function, NS::UInteger index) {
  for (const Parameter& parameter : function.reflection->parameters)
    if (parameter.kind == ParameterKind::buffer && index >= parameter.index &&
        index - parameter.index < parameter.array_length && function.has(parameter))
      return &parameter;
  return nullptr;
}

// Writes the handles of a range of objects that name themselves with gpuResourceID(), or zeros for null.
void write_handles(const MTL::ArgumentEncoder* encoder, auto* const objects[], NS::Range range, DataType expected,
                   Call call = Call::current()) {
  const ArgumentEncoderObject* self = body(encoder);
  if (!self || !objects) return;
  for (NS::UInteger i = 0; i < range.length; ++i) {
    const uint64_t handle = objects[i] ? objects[i]->gpuResourceID()._impl : 0;
    self->write(range.location + i, expected, handle, call);
  }
}

void refuse(Call call = Call::current()) {
  report_misuse(nullptr, "kernels here have no use for such objects", call);
}

}  // namespace

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;
using Kind = metalloid::DataType;

ALLOC(ArgumentDescriptor)
PROPERTY(ArgumentDescriptor, dataType, setDataType)
PROPERTY(ArgumentDescriptor, index, setIndex)
PROPERTY(ArgumentDescriptor, arrayLength, setArrayLength)
PROPERTY(ArgumentDescriptor, access, setAccess)
PROPERTY(ArgumentDescriptor, textureType, setTextureType)
PROPERTY(ArgumentDescriptor, constantBlockAlignment, setConstantBlockAlignment)

ArgumentDescriptor* ArgumentDescriptor::argumentDescriptor() {
  return alloc()->init()->autorelease();
}

ArgumentEncoder* Device::newArgumentEncoder(const NS::Array* arguments) {
  DeviceObject* self = body(this);
  if (!self || !arguments) return nullptr;
  std::vector<ArgumentProperties> asked;
  for (const ArgumentDescriptor* argument : metalloid::foundation::elements_of<ArgumentDescriptor>(arguments)) {
    if (!argument) {
      report_misuse(nullptr, "arguments has an object that is no argument descriptor");
      return nullptr;
    }
    asked.push_back(*properties(argument));
  }
  auto structure = struct_of(std::move(asked));
  if (structure && structure->size > 0) return new_encoder(self, *std::move(structure));
  report_misuse(nullptr, structure ? "there are no arguments" : structure.error());
  return nullptr;
}

ArgumentEncoder* Device::newArgumentEncoder(const BufferBinding* binding) {
  DeviceObject* self = body(this);
  return self ? new_encoder_for(self, parameter_of(binding), Call::current()) : nullptr;
}

ArgumentEncoder* Function::newArgumentEncoder(NS::UInteger bufferIndex) {
  const FunctionObject* self = body(this);
  return self ? new_encoder_for(self->device, buffer_parameter(*self, bufferIndex), Call::current()) : nullptr;
}

ArgumentEncoder* Function::newArgumentEncoder(NS::UInteger bufferIndex, const AutoreleasedArgument* reflection) {
  const FunctionObject* self = body(this);
  if (!self) return nullptr;
  const metalloid::Parameter* parameter = buffer_parameter(*self, bufferIndex);
  if (reflection)
    *const_cast<AutoreleasedArgument*>(reflection) =
        parameter ? new_argument(*parameter, self->function.library)->autorelease() : nullptr;
  return new_encoder_for(self->device, parameter, Call::current());
}

ArgumentEncoder* ArgumentEncoder::newArgumentEncoder(NS::UInteger index) {
  const ArgumentEncoderObject* self = body(this);
  if (!self) return nullptr;
  const auto place = find_argument(*self->type, index);
  const metalloid::Type* type = place ? pointee(*place->type, *self->root) : nullptr;
  if (type && can_be_encoded(*type)) return new ArgumentEncoderObject(self->device, self->root, type);
  report_misuse(nullptr, fmt::format("argument {} is no pointer to an argument buffer", index));
  return nullptr;
}

Device* ArgumentEncoder::device() const {
  const ArgumentEncoderObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* ArgumentEncoder::label() const {
  const ArgumentEncoderObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void ArgumentEncoder::setLabel(const NS::String* label) {
  if (ArgumentEncoderObject* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

NS::UInteger ArgumentEncoder::alignment() const {
  const ArgumentEncoderObject* self = body(this);
  return self ? self->type->alignment : 0;
}

NS::UInteger ArgumentEncoder::encodedLength() const {
  const ArgumentEncoderObject* self = body(this);
  return self ? self->type->size : 0;
}

void ArgumentEncoder::setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger offset) {
  if (ArgumentEncoderObject* self = body(this)) self->set_argument_buffer(argumentBuffer, offset, Call::current());
}

void ArgumentEncoder::setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger startOffset,
                                        NS::UInteger arrayElement) {
  ArgumentEncoderObject* self = body(this);
  if (self) self->set_argument_buffer(argumentBuffer, startOffset + arrayElement * self->type->size, Call::current());
}

void ArgumentEncoder::setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
  setBuffers(&buffer, &offset, NS::Range(index, 1));
}

void ArgumentEncoder::setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range) {
  const ArgumentEncoderObject* self = body(this);
  if (!self || !buffers || !offsets) return;
  for (NS::UInteger i = 0; i < range.length; ++i) {
    const BufferObject* buffer = body(buffers[i]);
    if (buffer && offsets[i] > buffer->length)
      report_misuse(nullptr, fmt::format("offset {} is beyond a buffer of {} bytes", offsets[i], buffer->length));
    else
      self->write(range.location + i, Kind::pointer, buffer ? buffer->address + offsets[i] : 0, Call::current());
  }
}

void ArgumentEncoder::setTexture(const Texture* texture, NS::UInteger index) {
  setTextures(&texture, NS::Range(index, 1));
}

void ArgumentEncoder::setTextures(const Texture* const textures[], NS::Range range) {
  write_handles(this, textures, range, Kind::texture);
}

void ArgumentEncoder::setSamplerState(const SamplerState* sampler, NS::UInteger index) {
  setSamplerStates(&sampler, NS::Range(index, 1));
}

void ArgumentEncoder::setSamplerStates(const SamplerState* const samplers[], NS::Range range) {
  write_handles(this, samplers, range, Kind::sampler);
}

void ArgumentEncoder::setVisibleFunctionTable(const VisibleFunctionTable* table, NS::UInteger index) {
  setVisibleFunctionTables(&table, NS::Range(index, 1));
}

void ArgumentEncoder::setVisibleFunctionTables(const VisibleFunctionTable* const tables[], NS::Range range) {
  write_handles(this, tables, range, Kind::visible_function_table);
}

void ArgumentEncoder::setComputePipelineState(const ComputePipelineState* pipeline, NS::UInteger index) {
  setComputePipelineStates(&pipeline, NS::Range(index, 1));
}

void ArgumentEncoder::setComputePipelineStates(const ComputePipelineState* const pipelines[], NS::Range range) {
  write_handles(this, pipelines, range, Kind::compute_pipeline);
}

void ArgumentEncoder::setIndirectCommandBuffer(const IndirectCommandBuffer* buffer, NS::UInteger index) {
  setIndirectCommandBuffers(&buffer, NS::Range(index, 1));
}

void ArgumentEncoder::setIndirectCommandBuffers(const IndirectCommandBuffer* const buffers[], NS::Range range) {
  write_handles(this, buffers, range, Kind::indirect_command_buffer);
}

void* ArgumentEncoder::constantData(NS::UInteger index) {
  const ArgumentEncoderObject* self = body(this);
  return self ? self->destination(index, std::nullopt, Call::current()) : nullptr;
}

// Objects of graphics and ray tracing, which kernels here cannot use.

void ArgumentEncoder::setRenderPipelineState(const RenderPipelineState*, NS::UInteger) {
  refuse();
}

void ArgumentEncoder::setRenderPipelineStates(const RenderPipelineState* const[], NS::Range) {
  refuse();
}

void ArgumentEncoder::setDepthStencilState(const DepthStencilState*, NS::UInteger) {
  refuse();
}

void ArgumentEncoder::setDepthStencilStates(const DepthStencilState* const[], NS::Range) {
  refuse();
}

void ArgumentEncoder::setAccelerationStructure(const AccelerationStructure*, NS::UInteger) {
  refuse();
}

void ArgumentEncoder::setIntersectionFunctionTable(const IntersectionFunctionTable*, NS::UInteger) {
  refuse();
}

void ArgumentEncoder::setIntersectionFunctionTables(const IntersectionFunctionTable* const[], NS::Range) {
  refuse();
}

}  // namespace MTL
