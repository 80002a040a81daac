// The weights of a convolution: as the data source gives them, in the order that our kernels read, and, in primitives
// of the math library, in the order that it likes. They never change: new weights are new objects, so that commands
// that are still to run keep theirs. In training there are new ones with each step: their buffers are those of weights
// that nobody needs any more, and the order of our kernels is made when they read it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "mps/cnn/convolution_descriptor.hpp"
#include "mps/core/encoding.hpp"
#include "mps/core/image_tensor.hpp"
#include "mps/libraries/convolution.hpp"

namespace metalloid::mps {

class ConvolutionWeights {
 public:
  // For the convolution itself, or turned, for the gradient of its source.
  enum class Order { as_given, turned };

  static Result<std::shared_ptr<ConvolutionWeights>> load(MTL::Device* device, MPS::CNNConvolutionDataSource* source,
                                                          Order order);
  // Another set of weights for the same convolution, which commands encoded here copy from buffers.
  Result<std::shared_ptr<ConvolutionWeights>> copied_from(Encoding& encoding, Operand weights, Operand biases) const;

  ConvolutionShape shape;
  NS::SharedPtr<MPS::CNNConvolutionDataSource> source;
  NS::SharedPtr<MTL::Buffer> weights, biases;  // floats; biases are zeros where there are none
  NS::SharedPtr<MTL::Buffer> slopes;           // of a PReLU, or anything
  bool has_biases = false;
  NS::SharedPtr<MPS::NNNeuronDescriptor> neuron_descriptor;
  Neuron neuron;
  Order order = Order::as_given;

  // In the order of our kernels, until the end of the encode.
  Operand packed(Encoding& encoding) const;

  // The math library's way, made once for each description; null if it has none.
  std::shared_ptr<Primitive> primitive(const MathLibrary* library, const Convolution& description);

 private:
  // Buffers that hold these weights, or held some before them.
  class Buffers {
   public:
    NS::SharedPtr<MTL::Buffer> take(MTL::Device* device, size_t numbers);

   private:
    std::mutex mutex_;
    std::vector<NS::SharedPtr<MTL::Buffer>> buffers_;
  };

  void encode_packing(Encoding& encoding, Operand result) const;

  std::shared_ptr<Buffers> buffers_ = std::make_shared<Buffers>();
  NS::SharedPtr<MTL::Buffer> packed_;                  // null: not made yet
  mutable std::atomic<bool> kernels_read_it_ = false;  // so they will read those that come after
  std::mutex mutex_;
  std::vector<std::pair<Convolution, std::shared_ptr<Primitive>>> primitives_;
};

// Where a convolution's windows are, in a source whose pixels may be moved apart.
struct ConvolutionPlace {
  NS::Integer left = 0, top = 0;
  size_t stride_x = 1, stride_y = 1, apart_x = 1, apart_y = 1;
  MPS::ImageEdgeMode edge_mode = MPS::ImageEdgeModeZero;
};

// By our kernels: weights in their packed order; turned ones exchange inputs and outputs.
void encode_convolution(Encoding& encoding, const ConvolutionWeights& weights, const ConvolutionPlace& place,
                        const ImageTensor& source, const ImageTensor& destination, bool with_biases_and_neuron);

// As kernels/conv.metal has it.
struct KernelConvolution {
  KernelImageTensor source, result;
  int32_t left, top;
  uint32_t kernel_width, kernel_height, stride_x, stride_y, dilation_x, dilation_y, apart_x, apart_y;
  uint32_t groups, inputs, outputs;
  uint32_t edge;
};
KernelConvolution for_kernel(const ConvolutionShape& shape, const ConvolutionPlace& place, const ImageTensor& source,
                             const ImageTensor& result);

// What the library is asked for; false where the images do not lie as it needs them.
bool describe(Convolution& description, ConvolutionPass pass, const ConvolutionShape& shape,
              const WindowGeometry& window, const ImageTensor& source, const ImageTensor& destination);

}  // namespace metalloid::mps
