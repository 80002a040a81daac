// How cuDNN does one convolution: the engine that its heuristics put first among those whose numbers are as good as MPS
// promises, made ready for one GPU.
#pragma once

#include <deque>
#include <memory>
#include <metalloid/result.hpp>

#include "mps/libraries/convolution.hpp"
#include "mps/libraries/nvidia/cudnn.hpp"

namespace metalloid::mps::nvidia {

// A descriptor of cuDNN's, owned.
class Descriptor {
 public:
  explicit Descriptor(dnn::Kind kind);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  dnn::Descriptor get() const { return descriptor_; }

  // What goes wrong is remembered, and told by finalize().
  void set(dnn::Attribute attribute, dnn::AttributeType type, int64_t count, const void* elements);
  template <class Value>
  void set(dnn::Attribute attribute, dnn::AttributeType type, const Value& value) {
    set(attribute, type, 1, &value);
  }
  void set(dnn::Attribute attribute, const Descriptor& other) {
    set(attribute, dnn::AttributeType::descriptor, 1, &other.descriptor_);
  }
  dnn::Code finalize();

 private:
  dnn::Descriptor descriptor_ = nullptr;
  dnn::Code code_ = dnn::Code::success;
};

using Descriptors = std::deque<Descriptor>;

// How far the last windows reach beyond the source; negative where they end before it.
int64_t rows_behind(const Convolution& convolution);
int64_t columns_behind(const Convolution& convolution);

class ConvolutionPlan {
 public:
  // Sizes are taken with the channels that only fill pixels up; weights and biases have room for them.
  static Result<std::shared_ptr<const ConvolutionPlan>> make(dnn::Handle handle, const Convolution& convolution);

  size_t workspace_bytes() const { return workspace_bytes_; }

  // Puts the work on the handle's stream. `source` and `destination` are images or their gradients.
  struct Places {
    void *source = nullptr, *weights = nullptr, *biases = nullptr, *destination = nullptr, *workspace = nullptr;
  };
  Status run(dnn::Handle handle, const Places& places) const;

 private:
  ConvolutionPlan(Descriptors parts, Descriptor plan, size_t workspace_bytes, bool has_biases)
      : parts_(std::move(parts)), plan_(std::move(plan)), workspace_bytes_(workspace_bytes), has_biases_(has_biases) {}

  const Descriptors parts_;  // that the plan was made of
  const Descriptor plan_;
  const size_t workspace_bytes_;
  const bool has_biases_;
};

}  // namespace metalloid::mps::nvidia
