// The native code that accesses textures; that for the processor that this runs on is among the runtime's functions.
#pragma once

#include <string>
#include <vector>

#include "cpu/textures/texture_function.hpp"

namespace metalloid::cpu::textures {

// A list for each kind of processor whose code this machine can run, the best first.
std::vector<TextureFunctions> native_functions();

// What kernels call the native code of a builtin.
inline std::string native_symbol(const std::string& builtin) {
  return "metalloid." + builtin.substr(builtin.find('.') + 1);
}

}  // namespace metalloid::cpu::textures
