// What batch, instance and group normalization share: numbers for each channel, and the steps as kernels of ours.
//
// Numbers that are normalized together are a slice: all pixels of a channel in a batch, or in one image. Statistics and
// sums have a row of `channels` floats for each slice.
#pragma once

#include <MetalPerformanceShaders/MPSCNNBatchNormalization.hpp>

#include "mps/core/cnn_kernel.hpp"
#include "mps/matrix/neuron_holder.hpp"

namespace metalloid::mps {

// Floats for each channel. They never change: new ones are new buffers, so that commands that are still to run keep
// theirs.
struct ChannelPair {
  NS::SharedPtr<MTL::Buffer> first, second;
};

// A buffer of `count` floats: these numbers, or, where there are none, `otherwise`.
NS::SharedPtr<MTL::Buffer> new_floats(MTL::Device* device, const float* numbers, size_t count, float otherwise);

// Puts new buffers into the pair, into which commands copy the state's first two.
void reload(ChannelPair& pair, size_t channels, MTL::Device* device, MTL::CommandBuffer* commands,
            const MPS::State* state, const char* call);

enum class Slices { batch, images };

// What makes normalized numbers of those of a source.
struct Normalization {
  Slices slices = Slices::batch;
  Operand mean = {}, variance = {}, gamma = {}, beta = {};
  float epsilon = 0;
  NeuronHolder neuron = {};
};

void encode_statistics(Encoding& encoding, const ImageTensor& source, Slices slices, Operand mean, Operand variance);

void encode_normalization(Encoding& encoding, const Normalization& normalization, const ImageTensor& source,
                          const ImageTensor& result);

// The gradients of gamma and beta.
void encode_sums(Encoding& encoding, const Normalization& normalization, const ImageTensor& gradient,
                 const ImageTensor& source, Operand of_gamma, Operand of_beta);

// The sums of what `count` numbers, which share a mean and a variance, add to the gradients of the two. Where a slice
// is all that shares them, these are the gradients of gamma and beta, still to be multiplied with gamma.
struct SharedSums {
  Operand of_gamma, of_beta;
  bool have_gamma = false;
  float count = 1;
};

// The gradient of the source. Gradient and source are at the pixels of the result.
void encode_source_gradient(Encoding& encoding, const Normalization& normalization, const SharedSums& sums,
                            const ImageTensor& gradient, const ImageTensor& source, const ImageTensor& result);

}  // namespace metalloid::mps
