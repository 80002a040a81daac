// The bases of layers. A layer derives from CnnKernelPart (one source), CnnBinaryPart (two) or CnnGradientPart, and
// overrides encode_layer(), which is given tensors: what clip rectangles, channel offsets, batches, types of numbers,
// padding policies and states mean is dealt with here, once for all encode functions of the interface.
//
// Tensors of one call have the same type, Float32 or Float16. The destination's tensor is the part of the image that
// is to be written, with the layer's result_channels().
#pragma once

#include <MetalPerformanceShaders/MPSCNNKernel.hpp>
#include <span>
#include <vector>

#include "mps/core/encoding.hpp"
#include "mps/core/image_tensor.hpp"
#include "mps/core/kernel.hpp"
#include "mps/core/state.hpp"

namespace metalloid::mps {

// What all layers have.
class LayerPart : public KernelPart {
 public:
  NS::SharedPtr<MPS::NNPadding> padding;         // null: same size, centered
  NS::SharedPtr<MPS::ImageAllocator> allocator;  // null: temporary images
  MTL::Region clip = MPS::RectNoClip;
  NS::UInteger destination_channel_offset = 0;
  bool is_backwards = false;

  // As errors name it: "MPS::CNNPoolingMax::encode".
  virtual const char* call() const { return "MPS::CNNKernel::encode"; }
  // A new state for the gradient, of a class that derives from GradientStatePart; filled in by the caller.
  virtual NS::SharedPtr<MPS::State> new_state() const;
  // Whether one state serves all images of a batch.
  virtual bool state_is_shared() const { return false; }
};

struct CnnTask {
  ImageTensor source, destination;
  NS::Integer offset_x = 0, offset_y = 0;  // of the destination's first pixel in the source
  std::vector<MPS::State*> states;         // to be written, one for each image; empty where none are asked for
  ImageWork& work;                         // for scratch tensors
};

class CnnKernelPart : public LayerPart {
 public:
  WindowGeometry window;
  NS::Integer offset_z = 0;
  NS::UInteger source_channel_offset = 0, source_channel_max_count = NS::UIntegerMax;

  virtual size_t result_channels(size_t source_channels) const { return source_channels; }
  // Whether the destination says how many channels are written, and not result_channels().
  virtual bool writes_all_channels() const { return false; }
  virtual bool takes_constant_edges() const { return false; }
  // Whether each number of the result may be written once that of the source at its own place was read.
  virtual bool works_in_place() const { return false; }
  // Of the pixels and images too, where they do not follow from window and padding policy.
  virtual ImageShape result_shape(const ImageShape& source, const ImageShape& suggested) const {
    (void)source;
    return suggested;
  }
  // Places the first window; called with what the padding policy says.
  virtual void set_origin(NS::Integer x, NS::Integer y) {
    window.offset_x = x;
    window.offset_y = y;
  }
  virtual Status encode_layer(Encoding& encoding, CnnTask& task) const = 0;
};

struct CnnBinaryTask {
  ImageTensor primary, secondary, destination;
  std::vector<MPS::State*> states;  // as in CnnTask
  ImageWork& work;
};

class CnnBinaryPart : public LayerPart {
 public:
  WindowGeometry primary, secondary;
  NS::Integer primary_offset_z = 0, secondary_offset_z = 0;
  NS::UInteger primary_channel_offset = 0, secondary_channel_offset = 0;
  NS::UInteger primary_channel_max_count = NS::UIntegerMax, secondary_channel_max_count = NS::UIntegerMax;

  virtual ImageShape result_shape(const ImageShape& primary_image, const ImageShape& secondary_image) const {
    (void)secondary_image;
    return primary_image;
  }
  virtual Status encode_layer(Encoding& encoding, CnnBinaryTask& task) const {
    (void)encoding, (void)task;
    return Error{"this kernel takes a gradient, the source image and the state of the forward pass"};
  }
};

struct CnnGradientTask {
  ImageTensor gradient;              // of the part of the result that the forward pass wrote
  ImageTensor source;                // what the forward pass read: whole images
  ImageTensor destination;           // as large as the source
  std::vector<MPS::State*> states;   // of the forward pass, one for each image
  const GradientStatePart& forward;  // the first of them
  ImageWork& work;
};

class CnnGradientPart : public CnnBinaryPart {
 public:
  NS::Integer kernel_offset_x = 0, kernel_offset_y = 0;

  const char* call() const override { return "MPS::CNNGradientKernel::encode"; }
  // Of the destination.
  virtual size_t result_channels(size_t gradient_channels, size_t source_channels) const {
    (void)gradient_channels;
    return source_channels;
  }
  // Of the pixels too, where the gradient is that of another image than sourceImage. `forward` may be null.
  virtual ImageShape gradient_shape(const ImageShape& suggested, const GradientStatePart* forward) const {
    (void)forward;
    return suggested;
  }
  virtual Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const = 0;
};

}  // namespace metalloid::mps
