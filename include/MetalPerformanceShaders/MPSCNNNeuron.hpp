// Neurons: functions that are applied to each number.
#pragma once

#include "MPSCNNKernel.hpp"
#include "MPSCNNNeuronType.hpp"

namespace MPS {

class _MPS_EXPORT NNNeuronDescriptor : public NS::Copying<NNNeuronDescriptor> {
 public:
  static NNNeuronDescriptor* cnnNeuronDescriptor(CNNNeuronType neuronType, float a = 0, float b = 0, float c = 0);
  // One float for each channel.
  static NNNeuronDescriptor* cnnNeuronPReLUDescriptor(const NS::Data* data, bool noCopy);

  CNNNeuronType neuronType() const;
  void setNeuronType(CNNNeuronType neuronType);
  float a() const;
  void setA(float a);
  float b() const;
  void setB(float b);
  float c() const;
  void setC(float c);
  NS::Data* data() const;
  void setData(const NS::Data* data);
};

class _MPS_EXPORT CNNNeuron : public NS::Copying<CNNNeuron, CNNKernel> {
 public:
  static CNNNeuron* alloc();
  CNNNeuron* init(MTL::Device* device, const NNNeuronDescriptor* neuronDescriptor);

  CNNNeuronType neuronType() const;
  float a() const;
  float b() const;
  float c() const;
  // Of a PReLU: one float for each channel.
  NS::Data* data() const;
};

// sourceImage is the one that the neuron was given.
class _MPS_EXPORT CNNNeuronGradient : public NS::Copying<CNNNeuronGradient, CNNGradientKernel> {
 public:
  static CNNNeuronGradient* alloc();
  CNNNeuronGradient* init(MTL::Device* device, const NNNeuronDescriptor* neuronDescriptor);

  CNNNeuronType neuronType() const;
  float a() const;
  float b() const;
  float c() const;
  NS::Data* data() const;
};

class _MPS_EXPORT CNNNeuronLinear : public NS::Copying<CNNNeuronLinear, CNNNeuron> {
 public:
  static CNNNeuronLinear* alloc();
  CNNNeuronLinear* init(MTL::Device* device, float a, float b);
};
class _MPS_EXPORT CNNNeuronReLU : public NS::Copying<CNNNeuronReLU, CNNNeuron> {
 public:
  static CNNNeuronReLU* alloc();
  CNNNeuronReLU* init(MTL::Device* device, float a);
};
class _MPS_EXPORT CNNNeuronPReLU : public NS::Copying<CNNNeuronPReLU, CNNNeuron> {
 public:
  static CNNNeuronPReLU* alloc();
  CNNNeuronPReLU* init(MTL::Device* device, const float* a, NS::UInteger count);
};
class _MPS_EXPORT CNNNeuronSigmoid : public NS::Copying<CNNNeuronSigmoid, CNNNeuron> {
 public:
  static CNNNeuronSigmoid* alloc();
  CNNNeuronSigmoid* init(MTL::Device* device);
};
class _MPS_EXPORT CNNNeuronHardSigmoid : public NS::Copying<CNNNeuronHardSigmoid, CNNNeuron> {
 public:
  static CNNNeuronHardSigmoid* alloc();
  CNNNeuronHardSigmoid* init(MTL::Device* device, float a, float b);
};
class _MPS_EXPORT CNNNeuronTanH : public NS::Copying<CNNNeuronTanH, CNNNeuron> {
 public:
  static CNNNeuronTanH* alloc();
  CNNNeuronTanH* init(MTL::Device* device, float a, float b);
};
class _MPS_EXPORT CNNNeuronAbsolute : public NS::Copying<CNNNeuronAbsolute, CNNNeuron> {
 public:
  static CNNNeuronAbsolute* alloc();
  CNNNeuronAbsolute* init(MTL::Device* device);
};
class _MPS_EXPORT CNNNeuronSoftPlus : public NS::Copying<CNNNeuronSoftPlus, CNNNeuron> {
 public:
  static CNNNeuronSoftPlus* alloc();
  CNNNeuronSoftPlus* init(MTL::Device* device, float a, float b);
};
class _MPS_EXPORT CNNNeuronSoftSign : public NS::Copying<CNNNeuronSoftSign, CNNNeuron> {
 public:
  static CNNNeuronSoftSign* alloc();
  CNNNeuronSoftSign* init(MTL::Device* device);
};
class _MPS_EXPORT CNNNeuronELU : public NS::Copying<CNNNeuronELU, CNNNeuron> {
 public:
  static CNNNeuronELU* alloc();
  CNNNeuronELU* init(MTL::Device* device, float a);
};
class _MPS_EXPORT CNNNeuronReLUN : public NS::Copying<CNNNeuronReLUN, CNNNeuron> {
 public:
  static CNNNeuronReLUN* alloc();
  CNNNeuronReLUN* init(MTL::Device* device, float a, float b);
};
class _MPS_EXPORT CNNNeuronPower : public NS::Copying<CNNNeuronPower, CNNNeuron> {
 public:
  static CNNNeuronPower* alloc();
  CNNNeuronPower* init(MTL::Device* device, float a, float b, float c);
};
class _MPS_EXPORT CNNNeuronExponential : public NS::Copying<CNNNeuronExponential, CNNNeuron> {
 public:
  static CNNNeuronExponential* alloc();
  CNNNeuronExponential* init(MTL::Device* device, float a, float b, float c);
};
class _MPS_EXPORT CNNNeuronLogarithm : public NS::Copying<CNNNeuronLogarithm, CNNNeuron> {
 public:
  static CNNNeuronLogarithm* alloc();
  CNNNeuronLogarithm* init(MTL::Device* device, float a, float b, float c);
};

}  // namespace MPS
