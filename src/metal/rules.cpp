#include "metal/rules.hpp"

#include <algorithm>

#include "foundation/string.hpp"
#include "metal/argument_tables.hpp"
#include "metal/buffer.hpp"
#include "metal/command_encoder.hpp"
#include "metal/compute_pipeline.hpp"
#include "metal/device.hpp"
#include "metal/texture.hpp"

namespace metalloid::metal {
namespace {

std::string named(const ResourcePart& resource) {
  return resource.label ? " '" + std::string(foundation::text_of(resource.label.get())) + "'" : "";
}

// "argument 'weights' at buffer index 2 of kernel 'softmax'"
std::string described(const Parameter& parameter, const device::Slot& slot, const device::Pipeline& pipeline) {
  return "argument '" + parameter.name + "' at " + to_string(parameter.kind) + " index " + std::to_string(slot.index) +
         " of kernel '" + pipeline.name + "'";
}

std::string broken_by_buffer(const Parameter& parameter, const device::Argument& argument) {
  if (argument.value == 0) return "is missing";
  if (argument.length < parameter.type.size)
    return "needs " + std::to_string(parameter.type.size) + " bytes, and the buffer has " +
           std::to_string(argument.length) + " from its offset on";
  if (parameter.type.alignment > 1 && argument.value % parameter.type.alignment != 0)
    return "must be aligned to " + std::to_string(parameter.type.alignment) + " bytes, and its offset is not";
  return "";
}

std::string broken_by_texture(const Parameter& parameter, const device::Slot& slot, const BoundTextures& textures) {
  const auto bound = std::ranges::find(textures, slot.index, &BoundTextures::value_type::first);
  if (bound == textures.end()) return "is missing";
  const TextureObject& texture = *bound->second;
  const auto type = static_cast<TextureType>(texture.description().type);
  if (type != parameter.type.texture_type)
    return "is a " + to_string(parameter.type.texture_type) + ", and the texture" + named(texture) + " a " +
           to_string(type);
  const bool reads = parameter.type.access != Access::write, writes = parameter.type.access != Access::read;
  if (texture.usage == MTL::TextureUsageUnknown) return "";
  if (reads && !(texture.usage & MTL::TextureUsageShaderRead))
    return "is read, and the usage of the texture" + named(texture) + " lacks TextureUsageShaderRead";
  if (writes && !(texture.usage & MTL::TextureUsageShaderWrite))
    return "is written, and the usage of the texture" + named(texture) + " lacks TextureUsageShaderWrite";
  return "";
}

std::string broken_by(const Parameter& parameter, const device::Slot& slot, const device::Argument& argument,
                      const BoundTextures& textures) {
  switch (slot.kind) {
    case ParameterKind::buffer:
      return broken_by_buffer(parameter, argument);
    case ParameterKind::texture:
      return broken_by_texture(parameter, slot, textures);
    case ParameterKind::threadgroup_memory:
      return argument.length == 0 ? "has no length; call setThreadgroupMemoryLength" : "";
    case ParameterKind::sampler:
    case ParameterKind::visible_function_table:
      return argument.value == 0 ? "is missing" : "";
    case ParameterKind::grid_value:
    case ParameterKind::value:
      break;
  }
  return "";
}

std::string of_kernel(const device::Pipeline& pipeline) {
  return " (kernel '" + pipeline.name + "')";
}

}  // namespace

void check_resource(const EncoderPart& encoder, const ResourcePart& resource, Call call) {
  if (encoder.device() != resource.device)
    encoder.misuse("the resource" + named(resource) + " belongs to another device", call);
  if (resource.purgeable_state == MTL::PurgeableStateEmpty)
    encoder.misuse("the resource" + named(resource) + " is empty: its purgeable state says so", call);
}

void check_arguments(const EncoderPart& encoder, const ComputePipelineStateObject& pipeline,
                     const device::Argument* arguments, const BoundTextures& textures, Call call) {
  const device::Pipeline& code = *pipeline.pipeline;
  for (size_t i = 0; i < code.slots.size(); ++i) {
    if (!code.slots[i].used) continue;
    const Parameter& parameter = pipeline.recipe.function->reflection->parameters[code.slots[i].parameter];
    const std::string broken = broken_by(parameter, code.slots[i], arguments[i], textures);
    if (!broken.empty()) encoder.misuse(described(parameter, code.slots[i], code) + " " + broken, call);
  }
}

void check_threadgroup(const EncoderPart& encoder, const ComputePipelineStateObject& pipeline, MTL::Size threadgroup,
                       Call call) {
  const MTL::Size required = pipeline.required_threads;
  if (required.width != 0 && (threadgroup.width != required.width || threadgroup.height != required.height ||
                              threadgroup.depth != required.depth))
    encoder.misuse("a threadgroup has " + to_string(threadgroup) + " threads, and the pipeline requires " +
                       to_string(required) + of_kernel(*pipeline.pipeline),
                   call);
  if (pipeline.recipe.properties.threadGroupSizeIsMultipleOfThreadExecutionWidth &&
      threadgroup.width * threadgroup.height * threadgroup.depth % device::threads_per_simdgroup != 0)
    encoder.misuse("a threadgroup of " + to_string(threadgroup) + " threads is not a multiple of the pipeline's " +
                       "threadExecutionWidth, as its descriptor promised" + of_kernel(*pipeline.pipeline),
                   call);
}

std::string broken_by_threadgroup(const device::Pipeline& pipeline, MTL::Size threadgroup) {
  if (threadgroup.width == 0 || threadgroup.height == 0 || threadgroup.depth == 0)
    return "the threadgroup's size must not be zero in any direction" + of_kernel(pipeline);
  const uint64_t limit = pipeline.max_threads_per_threadgroup;
  if (threadgroup.width <= limit && threadgroup.height <= limit && threadgroup.depth <= limit &&
      threadgroup.width * threadgroup.height * threadgroup.depth <= limit)
    return "";
  return "a threadgroup of " + to_string(threadgroup) +
         " threads is more than the pipeline's maxTotalThreadsPerThreadgroup of " + std::to_string(limit) +
         of_kernel(pipeline);
}

std::string broken_by_threadgroup_memory(const device::Pipeline& pipeline, const device::Argument* arguments,
                                         uint64_t limit) {
  const uint64_t bytes = threadgroup_memory_of(pipeline, arguments);
  if (bytes <= limit) return "";
  return "threadgroup memory of " + std::to_string(bytes) +
         " bytes is more than the device's maxThreadgroupMemoryLength of " + std::to_string(limit) +
         of_kernel(pipeline);
}

bool is_within(const BufferObject& buffer, uint64_t offset, uint64_t bytes) {
  return offset <= buffer.length && bytes <= buffer.length - offset;
}

std::string beyond_the_end(const BufferObject& buffer, uint64_t offset, uint64_t bytes) {
  const std::string place = "offset " + std::to_string(offset);
  return (bytes == 0 ? place + " is" : std::to_string(bytes) + " bytes at " + place + " reach") +
         " beyond the end of the buffer" + named(buffer) + ", which has " + std::to_string(buffer.length) + " bytes";
}

MTL::Size grid_of(MTL::Size threadgroups, MTL::Size threadgroup) {
  const auto threads = [](uint64_t groups, uint64_t size) { return groups > UINT32_MAX ? groups : groups * size; };
  return {threads(threadgroups.width, threadgroup.width), threads(threadgroups.height, threadgroup.height),
          threads(threadgroups.depth, threadgroup.depth)};
}

std::string to_string(MTL::Size size) {
  return std::to_string(size.width) + "×" + std::to_string(size.height) + "×" + std::to_string(size.depth);
}

}  // namespace metalloid::metal
