// Runs a math builtin of the embedded bitcode over arrays: the body that ships, in a loop that LLVM compiles and
// vectorises for this machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::builtins {

// out[i] = symbol(x[i]), or symbol(x[i], y[i]). Throws std::runtime_error if there is no such builtin of this type.
void sweep(std::string_view symbol, std::span<const float> x, std::span<float> out);
void sweep(std::string_view symbol, std::span<const float> x, std::span<const float> y, std::span<float> out);

// The same for halves, as their bits.
void sweep(std::string_view symbol, std::span<const uint16_t> x, std::span<uint16_t> out);
void sweep(std::string_view symbol, std::span<const uint16_t> x, std::span<const uint16_t> y, std::span<uint16_t> out);

// What a function of the module is made of. `calls` are those that LLVM does not know as intrinsics.
struct Anatomy {
  bool defined = false;
  bool touches_memory = true;
  size_t blocks = 0;
  std::vector<std::string> calls;
};
Anatomy anatomy(std::string_view symbol);

}  // namespace metalloid::builtins
