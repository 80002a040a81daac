// The math builtins, each under the symbol by which kernels call it.
//
// Bodies are written for devices that run many lanes as one vector: straight-line code, selects in place of branches,
// float and 32-bit integers, no memory. They are compiled without contraction, so an operation rounds where it stands
// and a fused one says fma. A builtin calls none of the others (`flatten`): each can be linked and widened on its own.
#pragma once

namespace metalloid::builtins {

using half = _Float16;

#define METAL_BUILTIN(result, name, symbol, ...) [[gnu::flatten]] result name(__VA_ARGS__) asm("metal." symbol)
#define METAL_MATH(name, ...)                                                  \
  METAL_BUILTIN(float, name, #name ".f32", __VA_ARGS__(float));                \
  METAL_BUILTIN(float, fast_##name, "fast_" #name ".f32", __VA_ARGS__(float)); \
  METAL_BUILTIN(half, name, #name ".f16", __VA_ARGS__(half))
#define METAL_ONE(type) type
#define METAL_TWO(type) type, type

METAL_MATH(acos, METAL_ONE);
METAL_MATH(acosh, METAL_ONE);
METAL_MATH(asin, METAL_ONE);
METAL_MATH(asinh, METAL_ONE);
METAL_MATH(atan, METAL_ONE);
METAL_MATH(atan2, METAL_TWO);
METAL_MATH(atanh, METAL_ONE);
METAL_MATH(cos, METAL_ONE);
METAL_MATH(cosh, METAL_ONE);
METAL_MATH(cospi, METAL_ONE);
METAL_MATH(divide, METAL_TWO);
METAL_MATH(exp, METAL_ONE);
METAL_MATH(exp10, METAL_ONE);
METAL_MATH(exp2, METAL_ONE);
METAL_MATH(log, METAL_ONE);
METAL_MATH(log10, METAL_ONE);
METAL_MATH(log2, METAL_ONE);
METAL_MATH(pow, METAL_TWO);
METAL_MATH(powr, METAL_TWO);
METAL_MATH(rsqrt, METAL_ONE);
METAL_MATH(sin, METAL_ONE);
METAL_MATH(sinh, METAL_ONE);
METAL_MATH(sinpi, METAL_ONE);
METAL_MATH(sqrt, METAL_ONE);
METAL_MATH(tan, METAL_ONE);
METAL_MATH(tanh, METAL_ONE);
METAL_MATH(tanpi, METAL_ONE);
METAL_BUILTIN(float, fmod, "fmod.f32", float, float);
METAL_BUILTIN(half, fmod, "fmod.f16", half, half);

// The two ways in which most variants come about: the precise body is fast enough, and a half is computed as a float.
#define METAL_FAST_AS_PRECISE(name) \
  float fast_##name(float x) {      \
    return name(x);                 \
  }
#define METAL_HALF_AS(function, name)                          \
  half name(half x) {                                          \
    return static_cast<half>(function(static_cast<float>(x))); \
  }

#undef METAL_BUILTIN
#undef METAL_MATH
#undef METAL_ONE
#undef METAL_TWO

}  // namespace metalloid::builtins
