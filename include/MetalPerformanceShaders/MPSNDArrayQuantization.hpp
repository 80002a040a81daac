// How the numbers of an array stand for others.
#pragma once

#include "MPSNDArray.hpp"

namespace MPS {

_MPS_OPTIONS(NS::UInteger, NDArrayQuantizationScheme){
    NDArrayQuantizationTypeNone = 0,
    NDArrayQuantizationTypeAffine = 1,
    NDArrayQuantizationTypeLUT = 2,
};

class _MPS_EXPORT NDArrayQuantizationDescriptor : public NS::Copying<NDArrayQuantizationDescriptor> {
 public:
  DataType quantizationDataType() const;
  NDArrayQuantizationScheme quantizationScheme() const;
};

// q stands for scale * (q - zeroPoint) + minValue. Scales, zero points and minima are arrays of one shape, whose
// lengths divide those of the quantised array: each number of theirs serves a block of its. q is Int8, UInt8, Int4 or
// UInt4, of which the last two have two in a byte, the first in the lower bits.
class _MPS_EXPORT NDArrayAffineQuantizationDescriptor
    : public NS::Copying<NDArrayAffineQuantizationDescriptor, NDArrayQuantizationDescriptor> {
 public:
  static NDArrayAffineQuantizationDescriptor* alloc();
  NDArrayAffineQuantizationDescriptor* init(DataType quantizationDataType, bool hasZeroPoint, bool hasMinValue);

  bool hasZeroPoint() const;
  void setHasZeroPoint(bool hasZeroPoint);
  bool hasMinValue() const;
  void setHasMinValue(bool hasMinValue);
  // Signed numbers are stored with half their range added.
  bool implicitZeroPoint() const;
  void setImplicitZeroPoint(bool implicitZeroPoint);
};

// q, as a number without sign, stands for number q of a table.
class _MPS_EXPORT NDArrayLUTQuantizationDescriptor
    : public NS::Copying<NDArrayLUTQuantizationDescriptor, NDArrayQuantizationDescriptor> {
 public:
  static NDArrayLUTQuantizationDescriptor* alloc();
  NDArrayLUTQuantizationDescriptor* init(DataType quantizationDataType);
};

}  // namespace MPS
