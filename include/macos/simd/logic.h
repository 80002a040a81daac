// Part of <simd/simd.h>, under the name that it has on a Mac.
#pragma once

#include <simd/common.h>
