// Apple's small vectors and matrices for programs that share structs with shaders: the types, and the functions on them
// that programs for Metal use. Written for C++; there is no C interface.
#pragma once

#include <simd/common.h>
#include <simd/conversion.h>
#include <simd/geometry.h>
#include <simd/math.h>
#include <simd/matrix.h>
#include <simd/matrix_types.h>
#include <simd/quaternion.h>
#include <simd/vector_make.h>
#include <simd/vector_types.h>
