// Reductions of images along one direction: rows become one pixel wide, columns one pixel high, pixels one channel.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

// The part of the source that clipRectSource names is reduced, all of it by default.
class _MPS_EXPORT NNReduceUnary : public NS::Copying<NNReduceUnary, CNNKernel> {
 public:
  MTL::Region clipRectSource() const;
  void setClipRectSource(MTL::Region clipRectSource);
};

class _MPS_EXPORT NNReduceRowMin : public NS::Copying<NNReduceRowMin, NNReduceUnary> {
 public:
  static NNReduceRowMin* alloc();
  NNReduceRowMin* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceColumnMin : public NS::Copying<NNReduceColumnMin, NNReduceUnary> {
 public:
  static NNReduceColumnMin* alloc();
  NNReduceColumnMin* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceFeatureChannelsMin : public NS::Copying<NNReduceFeatureChannelsMin, NNReduceUnary> {
 public:
  static NNReduceFeatureChannelsMin* alloc();
  NNReduceFeatureChannelsMin* init(MTL::Device* device);
};
// The index of the channel with the smallest or the largest number; the first of several.
class _MPS_EXPORT NNReduceFeatureChannelsArgumentMin
    : public NS::Copying<NNReduceFeatureChannelsArgumentMin, NNReduceUnary> {
 public:
  static NNReduceFeatureChannelsArgumentMin* alloc();
  NNReduceFeatureChannelsArgumentMin* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceRowMax : public NS::Copying<NNReduceRowMax, NNReduceUnary> {
 public:
  static NNReduceRowMax* alloc();
  NNReduceRowMax* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceColumnMax : public NS::Copying<NNReduceColumnMax, NNReduceUnary> {
 public:
  static NNReduceColumnMax* alloc();
  NNReduceColumnMax* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceFeatureChannelsMax : public NS::Copying<NNReduceFeatureChannelsMax, NNReduceUnary> {
 public:
  static NNReduceFeatureChannelsMax* alloc();
  NNReduceFeatureChannelsMax* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceFeatureChannelsArgumentMax
    : public NS::Copying<NNReduceFeatureChannelsArgumentMax, NNReduceUnary> {
 public:
  static NNReduceFeatureChannelsArgumentMax* alloc();
  NNReduceFeatureChannelsArgumentMax* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceRowMean : public NS::Copying<NNReduceRowMean, NNReduceUnary> {
 public:
  static NNReduceRowMean* alloc();
  NNReduceRowMean* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceColumnMean : public NS::Copying<NNReduceColumnMean, NNReduceUnary> {
 public:
  static NNReduceColumnMean* alloc();
  NNReduceColumnMean* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceFeatureChannelsMean : public NS::Copying<NNReduceFeatureChannelsMean, NNReduceUnary> {
 public:
  static NNReduceFeatureChannelsMean* alloc();
  NNReduceFeatureChannelsMean* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceRowSum : public NS::Copying<NNReduceRowSum, NNReduceUnary> {
 public:
  static NNReduceRowSum* alloc();
  NNReduceRowSum* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceColumnSum : public NS::Copying<NNReduceColumnSum, NNReduceUnary> {
 public:
  static NNReduceColumnSum* alloc();
  NNReduceColumnSum* init(MTL::Device* device);
};
class _MPS_EXPORT NNReduceFeatureChannelsSum : public NS::Copying<NNReduceFeatureChannelsSum, NNReduceUnary> {
 public:
  static NNReduceFeatureChannelsSum* alloc();
  NNReduceFeatureChannelsSum* init(MTL::Device* device);
  // Of each number; 1 by default.
  float weight() const;
  void setWeight(float weight);
};

}  // namespace MPS
