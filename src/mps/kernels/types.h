// The types that kernels are made for: METAL_EACH_FLOAT(X) gives X(float) X(half) X(bfloat).
#pragma once

#include <metal_stdlib>

using namespace metal;

#define METAL_EACH_FLOAT(X) X(float) X(half) X(bfloat)
