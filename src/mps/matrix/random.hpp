// What generators of random numbers share.
#pragma once

#include <MetalPerformanceShaders/MPSMatrixRandom.hpp>

#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

// As kernels/random.h has it.
struct KernelDistribution {
  float minimum = 0, maximum = 1, mean = 0, standard_deviation = 1;
};

struct Distribution {
  MPS::MatrixRandomDistribution type = MPS::MatrixRandomDistributionDefault;
  KernelDistribution numbers;
};

struct RandomPlace {
  Operand first;
  size_t rows = 1, columns = 0, matrices = 1;
  RowStrides strides = {};
};

class MatrixRandomPart : public KernelPart {
 public:
  MPS::DataType type = MPS::DataTypeUInt32;
  uint64_t seed = 0;
  Distribution distribution;
  NS::UInteger batch_start = 0, batch_size = NS::UIntegerMax;

  virtual void encode_numbers(Encoding& encoding, const RandomPlace& place) = 0;
};

// Takes over what an init is given; false, and reported, where that makes no sense.
bool set_random(MatrixRandomPart& part, MPS::DataType type, uint64_t seed,
                const MPS::MatrixRandomDistributionDescriptor* descriptor, const char* call);

template <class Part, class Interface>
Interface* init_random(Interface* kernel, MTL::Device* device, MPS::DataType type, uint64_t seed,
                       const MPS::MatrixRandomDistributionDescriptor* descriptor, const char* call) {
  auto* self = part_of<Part>(kernel);
  if (!init_kernel(kernel, self, device, call)) return nullptr;
  return set_random(*self, type, seed, descriptor, call) ? kernel : foundation::failed_init(kernel);
}

}  // namespace metalloid::mps
