// The data of states, and of those that gradients of layers read.
#pragma once

#include <MetalPerformanceShaders/MPSNNGradientState.hpp>
#include <vector>

#include "mps/core/image.hpp"
#include "mps/core/object.hpp"
#include "mps/core/operand.hpp"

namespace metalloid::mps {

// A buffer or a texture that is made when it is first asked for.
struct StateResource {
  size_t buffer_bytes = 0;
  NS::SharedPtr<MTL::TextureDescriptor> texture = {};
  NS::SharedPtr<MTL::Resource> made = {};
  bool is_shared = false;  // with other states: temporary memory stays until the command buffer is done
};

class StatePart {
 public:
  virtual ~StatePart() = default;

  NS::SharedPtr<MTL::Device> device;
  std::vector<StateResource> resources;
  TemporaryHomePointer home;
  NS::UInteger read_count = 0;
  NS::SharedPtr<NS::String> label;

  void set_device(MTL::Device* owner, MTL::CommandBuffer* temporary_in);
  MTL::Resource* resource(size_t index);
  // The buffer at this index, made if it must be; null if there is no memory.
  MTL::Buffer* buffer(size_t index) { return static_cast<MTL::Buffer*>(resource(index)); }
  void add_buffer(size_t bytes) { resources.push_back({.buffer_bytes = bytes}); }
  void set_read_count(NS::UInteger count);
  void was_read() {
    if (home && read_count > 0) set_read_count(read_count - 1);
  }
};

// How a layer's window moves over its source: destination pixel (x, y) reads from (x * stride + offset - window / 2)
// on, where the window counts the gaps between its taps.
struct WindowGeometry {
  size_t kernel_width = 1, kernel_height = 1;
  size_t stride_x = 1, stride_y = 1;
  size_t dilation_x = 1, dilation_y = 1;
  NS::Integer offset_x = 0, offset_y = 0;
  MPS::ImageEdgeMode edge_mode = MPS::ImageEdgeModeZero;

  size_t window_width() const { return (kernel_width - 1) * dilation_x + 1; }
  size_t window_height() const { return (kernel_height - 1) * dilation_y + 1; }
  // Where the first destination pixel's window begins in the source.
  NS::Integer left() const { return offset_x - NS::Integer(window_width() / 2); }
  NS::Integer top() const { return offset_y - NS::Integer(window_height() / 2); }

  bool operator==(const WindowGeometry&) const = default;
};

// What a forward pass leaves for its gradient.
class GradientStatePart : public StatePart {
 public:
  WindowGeometry geometry;
  MTL::Region clip = MTL::Region(0, 0, 0, 0);  // the part of the destination that was written
  ImageShape source, destination;
  size_t source_channel_offset = 0, destination_channel_offset = 0;
};

std::vector<MPS::State*> states_of(const MPS::StateBatch* batch);

}  // namespace metalloid::mps
