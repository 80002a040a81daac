// Arc sine, cosine and tangent. Fast variants are the precise ones.

#include "builtins/constants.hpp"
#include "builtins/float_operations.hpp"
#include "builtins/math.hpp"

namespace metalloid::builtins {

namespace {

// pi/2 * quarters - x
METALLOID_INLINE float quarters_less(float quarters, float x) {
  return fma(quarters, half_pi, fma(quarters, half_pi_rest, -x));
}

// For a large |x|, asin(|x|) = pi/2 - 2 * asin(sqrt((1 - |x|) / 2)): `part` is the arc sine on the right, and for a
// small one asin(|x|) itself.
struct ArcSine {
  bool large;
  float part;
};
METALLOID_INLINE ArcSine arc_sine(float x) {
  const float size = abs(x);
  const bool large = size > 0.5f;
  const float square = select(large, fma(size, -0.5f, 0.5f), size * size);
  const float sine = select(large, square_root(square), size);
  const float tail = polynomial(square, 0x1.596d72p-5f, 0x1.8c2d7ep-6f, 0x1.747d06p-5f, 0x1.3301fcp-4f, 0x1.5555c8p-3f);
  return {large, fma(sine * square, tail, sine)};
}

// For 0 <= x <= 1.
METALLOID_INLINE float arc_tangent(float x) {
  const float square = x * x;
  const float tail = polynomial(square, -0x1.d32dacp-10f, 0x1.6410e4p-7f, -0x1.fd6fbcp-6f, 0x1.da24cap-5f,
                                -0x1.580814p-4f, 0x1.c08c1ap-4f, -0x1.242084p-3f, 0x1.9991e4p-3f, -0x1.55553ep-2f);
  return fma(x * square, tail, x);
}

}  // namespace

float asin(float x) {
  const auto [large, part] = arc_sine(x);
  return copysign(select(large, quarters_less(1.0f, 2.0f * part), part), x);
}
METAL_FAST_AS_PRECISE(asin)
METAL_HALF_AS(asin, asin)

float acos(float x) {
  const auto [large, part] = arc_sine(x);
  const float near_end = select(x > 0.0f, 2.0f * part, quarters_less(2.0f, 2.0f * part));
  return select(large, near_end, quarters_less(1.0f, copysign(part, x)));
}
METAL_FAST_AS_PRECISE(acos)
METAL_HALF_AS(acos, acos)

float atan(float x) {
  const float size = abs(x);
  const bool steep = size > 1.0f;
  const float angle = arc_tangent(select(steep, 1.0f / size, size));
  return copysign(select(steep, quarters_less(1.0f, angle), angle), x);
}
METAL_FAST_AS_PRECISE(atan)
METAL_HALF_AS(atan, atan)

float atan2(float y, float x) {
  const float width = abs(x);
  const float height = abs(y);
  const bool steep = height > width;
  const float larger = select(steep, height, width);
  const float smaller = select(steep, width, height);
  float slope = smaller / larger;
  slope = select(larger == 0.0f, 0.0f, slope);
  slope = select(smaller == infinity, 1.0f, slope);
  float angle = arc_tangent(slope);
  angle = select(steep, quarters_less(1.0f, angle), angle);
  angle = select(as_int(x) < 0, quarters_less(2.0f, angle), angle);
  return select(is_nan(x, y), not_a_number, copysign(angle, y));
}
float fast_atan2(float y, float x) {
  return atan2(y, x);
}
half atan2(half y, half x) {
  return static_cast<half>(atan2(static_cast<float>(y), static_cast<float>(x)));
}

}  // namespace metalloid::builtins
