// The simd library as a shader sees it: its types. Functions on them are Metal's own.
#pragma once
#include <simd/vector_types.h>
#include <simd/packed.h>
#include <simd/matrix_types.h>
