// How kernels call native code that accesses a texture for all lanes of a group.
//
// Arguments and results are 32-bit words, a row of 32 for each, in the order of the builtin's (docs/builtins.md) behind
// the texture and the sampler; a vector is as many rows as it has elements. Lanes whose bit in `mask` is 0 ask for
// nothing: their arguments are anything, and their results too.
//
// The native code is compiled for several processors, each of which has a list of its own; hence no library types.
#pragma once

namespace metalloid::cpu::textures {

using AccessTexture = void (*)(unsigned long long texture, unsigned long long sampler, const unsigned* arguments,
                               unsigned* results, unsigned mask);

struct TextureFunction {
  const char* builtin;  // "metal.texture_2d_read.f32"
  AccessTexture body;
};

struct TextureFunctions {
  const TextureFunction* first;
  unsigned count;
};

}  // namespace metalloid::cpu::textures
