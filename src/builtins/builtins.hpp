// The builtins that no device does in hardware of its own, as one module of LLVM bitcode.
//
// The module is for the triple of kernels' modules (spirv64) and defines functions named as kernels call them,
// `metal.<name>.<types>` (docs/builtins.md). A device links what a kernel needs into the kernel's module before it
// optimises that, so every device runs the same bodies. They depend on nothing but LLVM's intrinsics.
#pragma once

#include <cstdint>
#include <span>

namespace metalloid::builtins {

std::span<const uint8_t> bitcode();

}  // namespace metalloid::builtins
