// Random numbers in matrices and vectors.
#pragma once

#include "MPSMatrix.hpp"

namespace MPS {

_MPS_OPTIONS(NS::UInteger, MatrixRandomDistribution){
    MatrixRandomDistributionDefault = 1,  // the generator's 32 bits
    MatrixRandomDistributionUniform = 2,  // [minimum, maximum)
    MatrixRandomDistributionNormal = 3,   // with mean and standardDeviation, within [minimum, maximum]
};

class _MPS_EXPORT MatrixRandomDistributionDescriptor : public NS::Copying<MatrixRandomDistributionDescriptor> {
 public:
  static MatrixRandomDistributionDescriptor* defaultDistributionDescriptor();
  static MatrixRandomDistributionDescriptor* uniformDistributionDescriptor(float minimum, float maximum);
  static MatrixRandomDistributionDescriptor* normalDistributionDescriptor(float mean, float standardDeviation);
  static MatrixRandomDistributionDescriptor* normalDistributionDescriptor(float mean, float standardDeviation,
                                                                          float minimum, float maximum);

  MatrixRandomDistribution distributionType() const;
  void setDistributionType(MatrixRandomDistribution distributionType);
  float minimum() const;
  void setMinimum(float minimum);
  float maximum() const;
  void setMaximum(float maximum);
  float mean() const;
  void setMean(float mean);
  float standardDeviation() const;
  void setStandardDeviation(float standardDeviation);
};

// Each call goes on in the sequence where the one before it ended.
class _MPS_EXPORT MatrixRandom : public NS::Copying<MatrixRandom, Kernel> {
 public:
  DataType destinationDataType() const;
  MatrixRandomDistribution distributionType() const;
  NS::UInteger batchStart() const;
  void setBatchStart(NS::UInteger batchStart);
  NS::UInteger batchSize() const;
  void setBatchSize(NS::UInteger batchSize);

  void encode(MTL::CommandBuffer* commandBuffer, const Vector* destinationVector);
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* destinationMatrix);
};

// The counter-based generator Philox 4x32-10 of Salmon, Moraes, Dror and Shaw; the seed is its key.
class _MPS_EXPORT MatrixRandomPhilox : public NS::Copying<MatrixRandomPhilox, MatrixRandom> {
 public:
  static MatrixRandomPhilox* alloc();
  MatrixRandomPhilox* init(MTL::Device* device);  // UInt32, seed 0
  MatrixRandomPhilox* init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed);
  MatrixRandomPhilox* init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed,
                           const MatrixRandomDistributionDescriptor* distributionDescriptor);
};

// The Mersenne twister for graphics processors of Saito and Matsumoto (arXiv:1005.4973), with a period of 2^11213 - 1.
// Streams with states of their own, from parameters that the authors publish, take turns in blocks of 128 numbers;
// Apple does not say how its streams are seeded and laid out, so the numbers are not those of a Mac.
//
// The state is on the device: commands that draw numbers must run in the order in which they are encoded. A copy goes
// on from the state of when it is made; commands that are still to run are not in it.
class _MPS_EXPORT MatrixRandomMTGP32 : public NS::Copying<MatrixRandomMTGP32, MatrixRandom> {
 public:
  static MatrixRandomMTGP32* alloc();
  MatrixRandomMTGP32* init(MTL::Device* device);  // UInt32, seed 0
  MatrixRandomMTGP32* init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed);
  MatrixRandomMTGP32* init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed,
                           const MatrixRandomDistributionDescriptor* distributionDescriptor);
  // Makes the state that these commands leave visible to the CPU, for copies.
  void synchronizeState(MTL::CommandBuffer* commandBuffer);
};

}  // namespace MPS
