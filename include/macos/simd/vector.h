// Part of <simd/simd.h>, under the name that it has on a Mac.
#pragma once

#include <simd/common.h>
#include <simd/conversion.h>
#include <simd/geometry.h>
#include <simd/math.h>
#include <simd/vector_make.h>
