// What the optimizers share: how gradients are treated, and an update of parameters whatever they are kept in.
#pragma once

#include <MetalPerformanceShaders/MPSNNOptimizers.hpp>
#include <array>

#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

struct GradientTreatment {
  float learning_rate = 1e-3f, rescale = 1;
  bool clips = false;
  float clip_max = 0, clip_min = 0;
  MPS::NNRegularizationType regularization = MPS::NNRegularizationTypeNone;
  float regularization_scale = 0;
};

class OptimizerDescriptorPart {
 public:
  GradientTreatment treatment;
};

// Which update it is; as in kernels/optimizers.metal.
enum class OptimizerKind : uint32_t { plain, momentum, nesterov, rms_prop, adam, ams_grad };

// An update of one list of numbers. Those that are remembered and not there are empty.
struct Update {
  MatrixView gradient, values, result;
  std::array<MatrixView, 3> remembered = {};
};

class OptimizerPart : public KernelPart {
 public:
  GradientTreatment treatment;
};

// The factors of an update, whose meaning is its kind's.
struct UpdateFactors {
  OptimizerKind kind = OptimizerKind::plain;
  float learning_rate = 0;
  double keep_first = 0, keep_second = 0;
  float epsilon = 0;
};

// The arguments of one encode, from vectors, matrices or states; `names` are of what is
// remembered. Null is allowed from index `required` on.
struct RememberedNames {
  std::array<const char*, 3> names = {};
  size_t required = 0;
};

template <class Numbers>
using RememberedNumbers = std::array<const Numbers*, 3>;

void encode_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                   const MPS::Vector* gradient, const MPS::Vector* values,
                   const RememberedNumbers<MPS::Vector>& remembered, const MPS::Vector* result,
                   const RememberedNames& names);
void encode_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                   const MPS::Matrix* gradient, const MPS::Matrix* values,
                   const RememberedNumbers<MPS::Matrix>& remembered, const MPS::Matrix* result,
                   const RememberedNames& names);
void encode_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                   const MPS::CNNConvolutionGradientState* gradient,
                   const MPS::CNNConvolutionWeightsAndBiasesState* values,
                   const RememberedNumbers<NS::Array>& remembered,
                   const MPS::CNNConvolutionWeightsAndBiasesState* result, const RememberedNames& names);
void encode_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                   const MPS::CNNBatchNormalizationState* gradient, const MPS::CNNBatchNormalizationState* values,
                   const RememberedNumbers<NS::Array>& remembered, const MPS::CNNNormalizationGammaAndBetaState* result,
                   const RememberedNames& names);

}  // namespace metalloid::mps
