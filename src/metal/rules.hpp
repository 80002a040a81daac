// Rules that encoders check, and the words in which they are reported.
#pragma once

#include <Metal/MTLTypes.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/commands.hpp"
#include "metal/misuse.hpp"

namespace metalloid::metal {

class BufferObject;
class ComputePipelineStateObject;
class EncoderPart;
class ResourcePart;
class TextureObject;

using BoundTextures = std::vector<std::pair<NS::UInteger, const TextureObject*>>;  // by index

// The next three are for the debug layer. A resource must be of the encoder's device and not be empty.
void check_resource(const EncoderPart& encoder, const ResourcePart& resource, Call call);

// What the kernel declares must be bound, large enough, aligned, and of the right kind.
void check_arguments(const EncoderPart& encoder, const ComputePipelineStateObject& pipeline,
                     const device::Argument* arguments, const BoundTextures& textures, Call call);

// What the pipeline was promised about the size of its threadgroups must hold.
void check_threadgroup(const EncoderPart& encoder, const ComputePipelineStateObject& pipeline, MTL::Size threadgroup,
                       Call call);

// Empty if a pipeline can run threadgroups of this size.
std::string broken_by_threadgroup(const device::Pipeline& pipeline, MTL::Size threadgroup);

// Empty if the pipeline can have that much threadgroup memory.
std::string broken_by_threadgroup_memory(const device::Pipeline& pipeline, const device::Argument* arguments,
                                         uint64_t limit);

bool is_within(const BufferObject& buffer, uint64_t offset, uint64_t bytes);
std::string beyond_the_end(const BufferObject& buffer, uint64_t offset, uint64_t bytes = 0);

std::string to_string(MTL::Size size);

// The threads of so many threadgroups. More than a grid can have stay too many.
MTL::Size grid_of(MTL::Size threadgroups, MTL::Size threadgroup);

inline device::Size device_size(MTL::Size size) {
  return {static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height), static_cast<uint32_t>(size.depth)};
}

}  // namespace metalloid::metal
