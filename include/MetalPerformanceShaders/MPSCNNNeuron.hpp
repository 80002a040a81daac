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

}  // namespace MPS
