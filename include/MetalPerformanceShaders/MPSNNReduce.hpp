// Reductions of images along one direction: rows become one pixel wide, columns one pixel high, pixels one channel;
// the latter with a weight for each number too.
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

// The channels of the primary image, times those of the secondary one: their weights. Parts of both that the clip
// rectangles name are taken, all of them by default, which must be equally large.
class _MPS_EXPORT NNReduceBinary : public NS::Copying<NNReduceBinary, CNNBinaryKernel> {
 public:
  MTL::Region primarySourceClipRect() const;
  void setPrimarySourceClipRect(MTL::Region clipRect);
  MTL::Region secondarySourceClipRect() const;
  void setSecondarySourceClipRect(MTL::Region clipRect);
};

class _MPS_EXPORT NNReduceFeatureChannelsAndWeightsMean
    : public NS::Copying<NNReduceFeatureChannelsAndWeightsMean, NNReduceBinary> {
 public:
  static NNReduceFeatureChannelsAndWeightsMean* alloc();
  NNReduceFeatureChannelsAndWeightsMean* init(MTL::Device* device);
};

class _MPS_EXPORT NNReduceFeatureChannelsAndWeightsSum
    : public NS::Copying<NNReduceFeatureChannelsAndWeightsSum, NNReduceBinary> {
 public:
  static NNReduceFeatureChannelsAndWeightsSum* alloc();
  // doWeightedSumByNonZeroWeights: the sum is divided by the number of weights that are not 0; it is 0 without any.
  NNReduceFeatureChannelsAndWeightsSum* init(MTL::Device* device, bool doWeightedSumByNonZeroWeights = false);
  bool doWeightedSumByNonZeroWeights() const;
};

}  // namespace MPS
