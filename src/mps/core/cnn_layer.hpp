// Steps that the encode functions of all kinds of layers share.
#pragma once

#include "mps/core/cnn_kernel.hpp"

namespace metalloid::mps {

// One Image, or single ones of one size; `name` is the argument's.
Status check_batch(std::span<ImageObject* const> images, const char* name);

// The part of a clip rectangle that is in the image.
MTL::Region clipped(MTL::Region clip, const ImageShape& image);

// What a layer writes.
Result<ImageArea> destination_area(const LayerPart& layer, std::span<ImageObject* const> destinations, size_t channels);

// Each different image once.
void mark_as_read(std::span<ImageObject* const> images);
void mark_as_read(std::span<MPS::State* const> states);

MPS::NNPadding* padding_of(const LayerPart& layer);
MPS::ImageAllocator* allocator_of(const LayerPart& layer);
std::vector<ImageObject*> allocate_images(const LayerPart& layer, MPS::Kernel* kernel,
                                          MTL::CommandBuffer* command_buffer, MPS::ImageDescriptor* descriptor,
                                          size_t count);

// One encode of a kernel with two sources, of a batch or of single images; `states` is empty where none are asked for.
void encode_binary(MPS::CNNBinaryKernel* kernel, MTL::CommandBuffer* command_buffer,
                   const std::vector<ImageObject*>& primaries, const std::vector<ImageObject*>& secondaries,
                   const std::vector<ImageObject*>& destinations, const std::vector<MPS::State*>& states);

MPS::StateBatch* batch_of(const std::vector<MPS::State*>& states);  // autoreleased

}  // namespace metalloid::mps
