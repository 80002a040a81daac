// The softmax of images is that of matrices, with pixels for rows.
#include "mps/matrix/soft_max.hpp"

#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNSoftMax.hpp>

#include "mps/cnn/pixel_rows.hpp"
#include "mps/core/data_type.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class CnnSoftMaxPart : public CnnKernelPart {
 public:
  bool logarithm = false;

  const char* call() const override { return logarithm ? "MPS::CNNLogSoftMax::encode" : "MPS::CNNSoftMax::encode"; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class CnnSoftMaxGradientPart : public CnnGradientPart {
 public:
  bool logarithm = false;

  const char* call() const override {
    return logarithm ? "MPS::CNNLogSoftMaxGradient::encode" : "MPS::CNNSoftMaxGradient::encode";
  }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

// As kernels/soft_max.metal has them.
struct GradientShape {
  uint32_t columns;
  RowStrides gradient, output, result;
};

template <class Interface, class Part>
Interface* init(Interface* kernel, Part* self, MTL::Device* device, bool logarithm, const char* call) {
  if (self) self->logarithm = logarithm;
  return init_kernel(kernel, self, device, call);
}

}  // namespace

Status CnnSoftMaxPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  for_each_rows(std::array{source_at_destination(task, window), task.destination}, Channels::each_in_its_column,
                [&](const std::array<MatrixView, 2>& views) {
                  const auto& [source, result] = views;
                  encode_soft_max(encoding, logarithm, source, result, {result.rows, result.columns, result.matrices});
                });
  return success();
}

Status CnnSoftMaxGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const auto moved = gradient_and_result_at_destination(task, *this);
  if (!moved) return Error{moved.error()};
  const KernelFunction function{fmt::format("{}_{}", logarithm ? "log_soft_max_gradient" : "soft_max_gradient",
                                            metal_name_of(task.destination.type))};
  const MTL::Size threads = threads_for_row(encoding.device(), task.destination.channels);
  for_each_rows(std::array{moved->gradient, moved->source, task.destination}, Channels::each_in_its_column,
                [&](const std::array<MatrixView, 3>& views) {
                  const auto& [gradient, output, result] = views;
                  encoding.dispatch(
                      function, MTL::Size(threads.width, result.rows, result.matrices), threads, gradient.first,
                      output.first, result.first,
                      GradientShape{uint32_t(result.columns), gradient.strides, output.strides, result.strides});
                });
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define SOFT_MAX(Class, Part, logarithm)                                                                \
  Class* Class::alloc() {                                                                               \
    return new mps::Object<Class, Part>("MPS" #Class);                                                  \
  }                                                                                                     \
  Class* Class::init(MTL::Device* device) {                                                             \
    return mps::init(this, part_of<Part>(this), device, logarithm, "-[MPS" #Class " initWithDevice:]"); \
  }
SOFT_MAX(CNNSoftMax, CnnSoftMaxPart, false)
SOFT_MAX(CNNLogSoftMax, CnnSoftMaxPart, true)
SOFT_MAX(CNNSoftMaxGradient, CnnSoftMaxGradientPart, false)
SOFT_MAX(CNNLogSoftMaxGradient, CnnSoftMaxGradientPart, true)

}  // namespace MPS
