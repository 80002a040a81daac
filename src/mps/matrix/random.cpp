#include <MetalPerformanceShaders/MPSMatrixRandom.hpp>
#include <cmath>

#include "mps/core/counter.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/encoding.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

struct Distribution {
  MPS::MatrixRandomDistribution type = MPS::MatrixRandomDistributionDefault;
  float minimum = 0, maximum = 1, mean = 0, standard_deviation = 1;
};

class MatrixRandomPart : public KernelPart {
 public:
  MPS::DataType type = MPS::DataTypeUInt32;
  uint64_t seed = 0;
  Distribution distribution;
  NS::UInteger batch_start = 0, batch_size = NS::UIntegerMax;
  Counter counter;  // how far the generator has come
};

namespace {

using RandomPhiloxObject = Object<MPS::MatrixRandomPhilox, MatrixRandomPart>;

class DistributionObject final : public MPS::MatrixRandomDistributionDescriptor {
 public:
  Distribution distribution;

  const char* className() const override { return "MPSMatrixRandomDistributionDescriptor"; }
  NS::Object* contentCopy() const override {
    auto* copy = new DistributionObject;
    copy->distribution = distribution;
    return copy;
  }
};

Distribution* body(const MPS::MatrixRandomDistributionDescriptor* descriptor) {
  auto* object = const_cast<DistributionObject*>(static_cast<const DistributionObject*>(descriptor));
  return object ? &object->distribution : nullptr;
}

MPS::MatrixRandomDistributionDescriptor* new_distribution(const Distribution& distribution) {
  auto* object = new DistributionObject;
  object->distribution = distribution;
  return foundation::autoreleased(static_cast<MPS::MatrixRandomDistributionDescriptor*>(object));
}

constexpr size_t numbers_per_counter = 4;

struct Shape {
  uint64_t key, first_counter;
  uint32_t columns, counters_per_row;
  uint64_t row, matrix;  // strides
  float minimum, maximum, mean, standard_deviation;
};

void encode(Encoding& encoding, MatrixRandomPart& self, Operand first, size_t rows, size_t columns, size_t matrices,
            RowStrides strides) {
  const size_t counters = (columns + numbers_per_counter - 1) / numbers_per_counter;
  const Distribution& distribution = self.distribution;
  const Shape shape{self.seed,
                    self.counter.take(counters * rows * matrices),
                    uint32_t(columns),
                    uint32_t(counters),
                    strides.row,
                    strides.matrix,
                    distribution.minimum,
                    distribution.maximum,
                    distribution.mean,
                    distribution.standard_deviation};
  encoding.dispatch({fmt::format("random_philox_{}", metal_name_of(self.type)), {uint32_t(distribution.type)}},
                    MTL::Size(counters, rows, matrices), threads_along_row(counters), first, shape);
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MatrixRandomDistributionDescriptor* MatrixRandomDistributionDescriptor::defaultDistributionDescriptor() {
  return new_distribution({});
}

MatrixRandomDistributionDescriptor* MatrixRandomDistributionDescriptor::uniformDistributionDescriptor(float minimum,
                                                                                                      float maximum) {
  return new_distribution({.type = MatrixRandomDistributionUniform, .minimum = minimum, .maximum = maximum});
}

MatrixRandomDistributionDescriptor* MatrixRandomDistributionDescriptor::normalDistributionDescriptor(
    float mean, float standardDeviation) {
  return normalDistributionDescriptor(mean, standardDeviation, -INFINITY, INFINITY);
}

MatrixRandomDistributionDescriptor* MatrixRandomDistributionDescriptor::normalDistributionDescriptor(
    float mean, float standardDeviation, float minimum, float maximum) {
  return new_distribution({MatrixRandomDistributionNormal, minimum, maximum, mean, standardDeviation});
}

#define DISTRIBUTION_PROPERTY(Type, getter, setter, member)     \
  Type MatrixRandomDistributionDescriptor::getter() const {     \
    const Distribution* self = body(this);                      \
    return self ? self->member : Type(0);                       \
  }                                                             \
  void MatrixRandomDistributionDescriptor::setter(Type value) { \
    if (Distribution* self = body(this)) self->member = value;  \
  }
DISTRIBUTION_PROPERTY(MatrixRandomDistribution, distributionType, setDistributionType, type)
DISTRIBUTION_PROPERTY(float, minimum, setMinimum, minimum)
DISTRIBUTION_PROPERTY(float, maximum, setMaximum, maximum)
DISTRIBUTION_PROPERTY(float, mean, setMean, mean)
DISTRIBUTION_PROPERTY(float, standardDeviation, setStandardDeviation, standard_deviation)

MPS_READONLY(MatrixRandom, MatrixRandomPart, DataType, destinationDataType, type, (DataTypeInvalid))
MPS_READONLY(MatrixRandom, MatrixRandomPart, MatrixRandomDistribution, distributionType, distribution.type,
             (MatrixRandomDistributionDefault))
MPS_NUMBER(MatrixRandom, MatrixRandomPart, batchStart, setBatchStart, batch_start)
MPS_NUMBER(MatrixRandom, MatrixRandomPart, batchSize, setBatchSize, batch_size)

void MatrixRandom::encode(MTL::CommandBuffer* commandBuffer, const Matrix* destinationMatrix) {
  auto* self = shared_part_of<MatrixRandomPart>(this);
  if (!self) return;
  Encoding encoding(commandBuffer, *self, "MPS::MatrixRandom::encode");
  if (!encoding) return;
  Arguments arguments(self->batch_start, self->batch_size);
  const MatrixView matrix = arguments.matrix(destinationMatrix, {0, 0, 0}, "destinationMatrix");
  arguments.require(matrix.type == self->type, "destinationMatrix has the type {}, and destinationDataType is {}",
                    name_of(matrix.type), name_of(self->type));
  if (encoding.check(arguments.status()))
    mps::encode(encoding, *self, matrix.first, matrix.rows, matrix.columns, matrix.matrices, matrix.strides);
}

void MatrixRandom::encode(MTL::CommandBuffer* commandBuffer, const Vector* destinationVector) {
  auto* self = shared_part_of<MatrixRandomPart>(this);
  if (!self) return;
  Encoding encoding(commandBuffer, *self, "MPS::MatrixRandom::encode");
  if (!encoding) return;
  Arguments arguments;
  const VectorView vector = arguments.vector(destinationVector, 1, "destinationVector");
  arguments.require(vector.type == self->type, "destinationVector has the type {}, and destinationDataType is {}",
                    name_of(vector.type), name_of(self->type));
  if (encoding.check(arguments.status())) mps::encode(encoding, *self, vector.first, 1, vector.length, 1, {});
}

MatrixRandomPhilox* MatrixRandomPhilox::alloc() {
  return new RandomPhiloxObject("MPSMatrixRandomPhilox");
}

MatrixRandomPhilox* MatrixRandomPhilox::init(MTL::Device* device) {
  return init(device, DataTypeUInt32, 0);
}

MatrixRandomPhilox* MatrixRandomPhilox::init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed) {
  return init(device, destinationDataType, seed, MatrixRandomDistributionDescriptor::defaultDistributionDescriptor());
}

MatrixRandomPhilox* MatrixRandomPhilox::init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed,
                                             const MatrixRandomDistributionDescriptor* distributionDescriptor) {
  constexpr const char* call =
      "-[MPSMatrixRandomPhilox initWithDevice:destinationDataType:seed:distributionDescriptor:]";
  auto* self = part_of<MatrixRandomPart>(this);
  if (!self) return nullptr;
  const auto refuse = [&](const std::string& reason) {
    foundation::report_misuse(call, reason);
    return foundation::failed_init(this);
  };
  if (!distributionDescriptor) return refuse("distributionDescriptor is null");
  if (destinationDataType != DataTypeUInt32 && destinationDataType != DataTypeFloat32)
    return refuse(
        fmt::format("destinationDataType is {}; UInt32 and Float32 can be made", name_of(destinationDataType)));
  const Distribution& distribution = *body(distributionDescriptor);
  if (distribution.type != MatrixRandomDistributionDefault && destinationDataType != DataTypeFloat32)
    return refuse("numbers of a distribution are Float32; destinationDataType must be it");
  self->type = destinationDataType;
  self->seed = seed;
  self->distribution = distribution;
  return init_kernel(this, self, device, call);
}

}  // namespace MPS
