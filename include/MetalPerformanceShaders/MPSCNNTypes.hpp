// Kinds of losses, and how the values of a batch become one.
#pragma once

#include "MPSCoreTypes.hpp"

namespace MPS {

_MPS_ENUM(uint32_t, CNNLossType){
    CNNLossTypeMeanAbsoluteError = 0,
    CNNLossTypeMeanSquaredError = 1,
    CNNLossTypeSoftMaxCrossEntropy = 2,
    CNNLossTypeSigmoidCrossEntropy = 3,
    CNNLossTypeCategoricalCrossEntropy = 4,
    CNNLossTypeHinge = 5,
    CNNLossTypeHuber = 6,
    CNNLossTypeCosineDistance = 7,
    CNNLossTypeLog = 8,
    CNNLossTypeKullbackLeiblerDivergence = 9,
    CNNLossTypeCount = 10,
};

_MPS_ENUM(int32_t, CNNReductionType){
    CNNReductionTypeNone = 0,  CNNReductionTypeSum = 1,
    CNNReductionTypeMean = 2,  CNNReductionTypeSumByNonZeroWeights = 3,
    CNNReductionTypeCount = 4,
};

}  // namespace MPS
