#include "mps/matrix/random.hpp"

#include <cmath>

#include "mps/core/counter.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class PhiloxPart : public MatrixRandomPart {
 public:
  Counter counter;  // how far the generator has come

  void encode_numbers(Encoding& encoding, const RandomPlace& place) override;
};

namespace {

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

// As kernels/random_philox.metal has it.
struct Shape {
  uint64_t key, first_counter;
  uint32_t columns, counters_per_row;
  uint64_t row, matrix;  // strides
  KernelDistribution distribution;
};

}  // namespace

void PhiloxPart::encode_numbers(Encoding& encoding, const RandomPlace& place) {
  const size_t counters = (place.columns + numbers_per_counter - 1) / numbers_per_counter;
  const Shape shape{seed,
                    counter.take(counters * place.rows * place.matrices),
                    uint32_t(place.columns),
                    uint32_t(counters),
                    place.strides.row,
                    place.strides.matrix,
                    distribution.numbers};
  encoding.dispatch({fmt::format("random_philox_{}", metal_name_of(type)), {uint32_t(distribution.type)}},
                    MTL::Size(counters, place.rows, place.matrices), threads_along_row(counters), place.first, shape);
}

bool set_random(MatrixRandomPart& part, MPS::DataType type, uint64_t seed,
                const MPS::MatrixRandomDistributionDescriptor* descriptor, const char* call) {
  const auto refuse = [&](const std::string& reason) {
    foundation::report_misuse(call, reason);
    return false;
  };
  if (!descriptor) return refuse("distributionDescriptor is null");
  if (type != MPS::DataTypeUInt32 && type != MPS::DataTypeFloat32)
    return refuse(fmt::format("destinationDataType is {}; UInt32 and Float32 can be made", name_of(type)));
  const Distribution& distribution = *body(descriptor);
  if (distribution.type != MPS::MatrixRandomDistributionDefault && type != MPS::DataTypeFloat32)
    return refuse("numbers of a distribution are Float32; destinationDataType must be it");
  part.type = type;
  part.seed = seed;
  part.distribution = distribution;
  return true;
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MatrixRandomDistributionDescriptor* MatrixRandomDistributionDescriptor::defaultDistributionDescriptor() {
  return new_distribution({});
}

MatrixRandomDistributionDescriptor* MatrixRandomDistributionDescriptor::uniformDistributionDescriptor(float minimum,
                                                                                                      float maximum) {
  return new_distribution({MatrixRandomDistributionUniform, {.minimum = minimum, .maximum = maximum}});
}

MatrixRandomDistributionDescriptor* MatrixRandomDistributionDescriptor::normalDistributionDescriptor(
    float mean, float standardDeviation) {
  return normalDistributionDescriptor(mean, standardDeviation, -INFINITY, INFINITY);
}

MatrixRandomDistributionDescriptor* MatrixRandomDistributionDescriptor::normalDistributionDescriptor(
    float mean, float standardDeviation, float minimum, float maximum) {
  return new_distribution({MatrixRandomDistributionNormal, {minimum, maximum, mean, standardDeviation}});
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
DISTRIBUTION_PROPERTY(float, minimum, setMinimum, numbers.minimum)
DISTRIBUTION_PROPERTY(float, maximum, setMaximum, numbers.maximum)
DISTRIBUTION_PROPERTY(float, mean, setMean, numbers.mean)
DISTRIBUTION_PROPERTY(float, standardDeviation, setStandardDeviation, numbers.standard_deviation)

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
  Arguments arguments(encoding, self->batch_start, self->batch_size);
  const MatrixView matrix = arguments.matrix(destinationMatrix, {0, 0, 0}, "destinationMatrix");
  arguments.require(matrix.type == self->type, "destinationMatrix has the type {}, and destinationDataType is {}",
                    name_of(matrix.type), name_of(self->type));
  if (encoding.check(arguments.status()))
    self->encode_numbers(encoding, {matrix.first, matrix.rows, matrix.columns, matrix.matrices, matrix.strides});
}

void MatrixRandom::encode(MTL::CommandBuffer* commandBuffer, const Vector* destinationVector) {
  auto* self = shared_part_of<MatrixRandomPart>(this);
  if (!self) return;
  Encoding encoding(commandBuffer, *self, "MPS::MatrixRandom::encode");
  if (!encoding) return;
  Arguments arguments(encoding);
  const VectorView vector = arguments.vector(destinationVector, 1, "destinationVector");
  arguments.require(vector.type == self->type, "destinationVector has the type {}, and destinationDataType is {}",
                    name_of(vector.type), name_of(self->type));
  if (encoding.check(arguments.status()))
    self->encode_numbers(encoding, {.first = vector.first, .columns = vector.length});
}

MatrixRandomPhilox* MatrixRandomPhilox::alloc() {
  return new mps::Object<MatrixRandomPhilox, PhiloxPart>("MPSMatrixRandomPhilox");
}

MatrixRandomPhilox* MatrixRandomPhilox::init(MTL::Device* device) {
  return init(device, DataTypeUInt32, 0);
}

MatrixRandomPhilox* MatrixRandomPhilox::init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed) {
  return init(device, destinationDataType, seed, MatrixRandomDistributionDescriptor::defaultDistributionDescriptor());
}

MatrixRandomPhilox* MatrixRandomPhilox::init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed,
                                             const MatrixRandomDistributionDescriptor* distributionDescriptor) {
  return init_random<PhiloxPart>(
      this, device, destinationDataType, seed, distributionDescriptor,
      "-[MPSMatrixRandomPhilox initWithDevice:destinationDataType:seed:distributionDescriptor:]");
}

}  // namespace MPS
