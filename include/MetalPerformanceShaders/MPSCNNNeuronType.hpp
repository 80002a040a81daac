// The functions that neurons can be, with their parameters a, b and c.
#pragma once

#include "MPSCoreTypes.hpp"

namespace MPS {

_MPS_ENUM(int32_t, CNNNeuronType){
    CNNNeuronTypeNone = 0,          // x
    CNNNeuronTypeReLU = 1,          // x >= 0 ? x : a * x
    CNNNeuronTypeLinear = 2,        // a * x + b
    CNNNeuronTypeSigmoid = 3,       // 1 / (1 + e^-x)
    CNNNeuronTypeHardSigmoid = 4,   // clamp(a * x + b, 0, 1)
    CNNNeuronTypeTanH = 5,          // a * tanh(b * x)
    CNNNeuronTypeAbsolute = 6,      // |x|
    CNNNeuronTypeSoftPlus = 7,      // a * log(1 + e^(b * x))
    CNNNeuronTypeSoftSign = 8,      // x / (1 + |x|)
    CNNNeuronTypeELU = 9,           // x >= 0 ? x : a * (e^x - 1)
    CNNNeuronTypePReLU = 10,        // ReLU with an a for each channel
    CNNNeuronTypeReLUN = 11,        // min(x >= 0 ? x : a * x, b)
    CNNNeuronTypePower = 12,        // (a * x + b)^c
    CNNNeuronTypeExponential = 13,  // c^(a * x + b)
    CNNNeuronTypeLogarithm = 14,    // log_c(a * x + b)
    CNNNeuronTypeGeLU = 15,         // x * (1 + erf(x / sqrt(2))) / 2
    CNNNeuronTypeCount = 16,
};

}  // namespace MPS
