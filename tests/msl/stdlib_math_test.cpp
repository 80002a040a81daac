// The functions of the standard library that work on one thread's numbers: every function for every type it takes, the
// types of their results, and the values of those that are constant expressions.
#include "compile_source.hpp"

namespace metalloid {
namespace {

// Calls f on scalars and vectors of T, and insists that the result has the operands' type.
constexpr std::string_view each_size = R"(
#define SAME(call, ...) static_assert(is_same_v<decltype(call), __VA_ARGS__>);
#define ONE(f) template <class V> void f##_1(device V* p) { SAME(f(p[0]), V) p[1] = f(p[0]); }
#define TWO(f) template <class V> void f##_2(device V* p) { SAME(f(p[0], p[1]), V) p[2] = f(p[0], p[1]); }
#define THREE(f) template <class V> void f##_3(device V* p) { SAME(f(p[0], p[1], p[2]), V) p[3] = f(p[0], p[1], p[2]); }
#define SIZES(f, T) f((device T*)m); f((device vec<T, 2>*)m); f((device vec<T, 3>*)m); f((device vec<T, 4>*)m);
)";

TEST(StdlibMath, EveryFunctionTakesEveryFloatingPointType) {
  EXPECT_EQ(functions_of(std::string(each_size) + R"(
#define EACH_1(X) X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(ceil) X(cos) X(cosh) X(cospi) X(exp) X(exp2) \
  X(exp10) X(fabs) X(abs) X(floor) X(fract) X(log) X(log2) X(log10) X(rint) X(round) X(rsqrt) X(sin) X(sinh) X(sinpi) \
  X(sqrt) X(tan) X(tanh) X(tanpi) X(trunc) X(saturate) X(sign)
#define EACH_2(X) X(atan2) X(copysign) X(fdim) X(fmax) X(fmin) X(max) X(min) X(fmod) X(pow) X(powr) X(nextafter) X(step)
#define EACH_3(X) X(fma) X(fmax3) X(fmin3) X(fmedian3) X(max3) X(min3) X(median3) X(clamp) X(mix) X(smoothstep)
EACH_1(ONE) EACH_2(TWO) EACH_3(THREE)
#define CALL_1(f) SIZES(f##_1, T)
#define CALL_2(f) SIZES(f##_2, T)
#define CALL_3(f) SIZES(f##_3, T)
template <class T> void all_of(device void* m) { EACH_1(CALL_1) EACH_2(CALL_2) EACH_3(CALL_3) }
kernel void halves(device void* m) { all_of<half>(m); }
kernel void floats(device void* m) { all_of<float>(m); }
)"),
            "halves floats");
}

TEST(StdlibMath, BfloatComputesAsFloat) {
  EXPECT_EQ(functions_of(std::string(each_size) + R"(
kernel void k(device bfloat* p, device bfloat4* q) {
  p[0] = bfloat(exp(p[1])); p[1] = bfloat(max(p[0], p[2])); p[2] = bfloat(fma(p[0], p[1], p[2])); p[3] = bfloat(sqrt(p[3]));
  SAME(exp(q[0]), bfloat4) SAME(exp(p[0]), float)
  q[0] = exp(q[1]); q[1] = max(q[0], q[1]); q[2] = clamp(q[1], bfloat(0), bfloat(1)); q[3] = pow(q[0], q[1]);
  q[4] = abs(q[0]) + floor(q[1]); p[4] = dot(q[0], q[1]); q[5] = select(q[0], q[1], isnan(q[2]));
}
)"),
            "k");
}

TEST(StdlibMath, FunctionsWithASecondResultPutItWhereTheReferenceSays) {
  EXPECT_EQ(functions_of(R"(
template <class T> void parts(device T* p, device int* n) {
  thread T whole; thread T c; thread int e; thread vec<T, 3> whole3; thread int3 e3; thread vec<T, 3> c3;
  p[0] = modf(p[1], whole) + whole;
  p[1] = frexp(p[2], e) + ilogb(p[0]);
  p[2] = sincos(p[3], c) + c;
  p[3] = ldexp(p[4], e);
  vec<T, 3> v = vec<T, 3>(p[5]);
  v = modf(v, whole3) + whole3 + sincos(v, c3) + c3;
  v = frexp(v, e3);
  n[0] = ilogb(v).x + e3.y + e;
  p[4] = ldexp(v, e3).x;
}
kernel void k(device float* f, device half* h, device int* n) { parts(f, n); parts(h, n); }
)"),
            "k");
}

TEST(StdlibMath, FastAndPreciseVariantsAreTheirOwnFunctions) {
  const auto library = library_of(R"(
kernel void fast_ones(device float4* p) {
  p[0] = fast::exp(p[0]) + fast::sin(p[1]) + fast::pow(p[2], p[3]) + fast::rsqrt(p[4]) + fast::divide(p[0], p[1]) +
         fast::atan2(p[0], p[1]) + fast::clamp(p[0], 0.0f, 1.0f) + fast::length(p[1]) + fast::normalize(p[2]) + fast::tanh(p[3].x) +
         fast::dot(p[0], p[1]) + fast::reflect(p[0], p[1]) + float4(fast::isnan(p[2]));
}
kernel void precise_ones(device float4* p) {
  p[0] = precise::exp(p[0]) + precise::sin(p[1]) + precise::pow(p[2], p[3]) + precise::rsqrt(p[4]) +
         precise::divide(p[0], p[1]) + precise::max(p[0], p[1]) + precise::distance(p[1], p[2]) + precise::tanh(p[3].x) +
         precise::length_squared(p[0]) + float4(precise::isinf(p[2]));
}
kernel void usual(device float* p) { p[0] = exp(p[1]); }
)");
  ASSERT_TRUE(library);
  EXPECT_TRUE(mentions(code_of(*library, "fast_ones"), "metal.fast_exp.f32"));
  EXPECT_FALSE(mentions(code_of(*library, "fast_ones"), "metal.exp.f32"));
  EXPECT_TRUE(mentions(code_of(*library, "precise_ones"), "metal.exp.f32"));
  EXPECT_FALSE(mentions(code_of(*library, "precise_ones"), "metal.fast_exp.f32"));
  EXPECT_TRUE(mentions(code_of(*library, "usual"), "metal.fast_exp.f32"));

  CompileOptions safe = without_cache();
  safe.math_mode = MathMode::safe;
  CompileOptions precise = without_cache();
  precise.precise_functions = true;
  for (const CompileOptions& options : {safe, precise}) {
    const auto exact = library_of("\nkernel void usual(device float* p) { p[0] = exp(p[1]); }\n", options);
    ASSERT_TRUE(exact);
    EXPECT_TRUE(mentions(code_of(*exact, "usual"), "metal.exp.f32"));
  }
}

TEST(StdlibMath, MixedOperandsComputeInTheTypeThatMetalChooses) {
  EXPECT_EQ(functions_of(std::string(each_size) + R"(
SAME(max(1, 2.0f), float) SAME(max(1u, 2u), uint) SAME(min(uchar(1), uchar(2)), uchar) SAME(max(1.0h, 2.0f), float)
SAME(pow(2.0h, 3.0h), half) SAME(sqrt(4), float) SAME(abs(-1), int) SAME(abs(char(-1)), char) SAME(clamp(half3(), 0, 1), half3)
SAME(max(float4(), 0), float4) SAME(mix(float2(), float2(), 0.5f), float2) SAME(clamp(5, 0, 3), int) SAME(max(0, float2()), float2)
SAME(step(0.5f, float3()), float3) SAME(smoothstep(0.0f, 1.0f, half2()), half2) SAME(fma(1.0f, 2, 3), float)
static_assert(max(1, 2) == 2 && min(-1.5f, 2) == -1.5f && clamp(5, 0, 3) == 3 && median3(3, 1, 2) == 2 && abs(-3l) == 3);
static_assert(all(max(int3(1, 5, 3), 2) == int3(2, 5, 3)) && saturate(2.0f) == 1 && mix(0.0f, 10.0f, 0.5f) == 5);
static_assert(sign(-2.0f) == -1 && sign(0.0h) == 0 && step(1.0f, 2.0f) == 1 && smoothstep(0.0f, 1.0f, 0.5f) == 0.5f);
static_assert(max(NAN, 1.0f) == 1 && min(1.0f, NAN) == 1 && fmax(NAN, 2.0f) == 2);
kernel void k(device float* p, constant packed_float3& q, device half* h) {
  p[0] = max(p[1], h[0]); p[1] = pow(p[0], 2); p[2] = length(max(q, 0.0f)); p[3] = exp(h[1]) + floor(3);
}
)"),
            "k");
}

TEST(StdlibMath, IntegerFunctionsTakeEveryIntegerType) {
  EXPECT_EQ(functions_of(std::string(each_size) + R"(
#define EACH_1(X) X(abs) X(clz) X(ctz) X(popcount) X(reverse_bits)
#define EACH_2(X) X(absdiff) X(addsat) X(subsat) X(hadd) X(rhadd) X(max) X(min) X(mulhi) X(rotate)
#define EACH_3(X) X(clamp) X(madhi) X(madsat) X(max3) X(min3) X(median3)
EACH_1(ONE) EACH_2(TWO) EACH_3(THREE)
template <class V> void fields(device V* p) { p[0] = extract_bits(p[1], 2, 3); p[1] = insert_bits(p[0], p[2], 1, 4); }
#define CALL_1(f) SIZES(f##_1, T)
#define CALL_2(f) SIZES(f##_2, T)
#define CALL_3(f) SIZES(f##_3, T)
template <class T> void all_of(device void* m) { EACH_1(CALL_1) EACH_2(CALL_2) EACH_3(CALL_3) SIZES(fields, T) }
kernel void k8(device void* m) { all_of<char>(m); all_of<uchar>(m); }
kernel void k16(device void* m) { all_of<short>(m); all_of<ushort>(m); }
kernel void k32(device void* m) { all_of<int>(m); all_of<uint>(m); }
kernel void k64(device void* m) { all_of<long>(m); all_of<ulong>(m); }
kernel void k24(device int4* p, device uint* q) { p[0] = mul24(p[0], p[1]) + mad24(p[1], p[2], p[3]); q[0] = mul24(q[0], q[1]); }
)"),
            "k8 k16 k32 k64 k24");
}

TEST(StdlibMath, IntegerFunctionsAreExact) {
  EXPECT_EQ(functions_of(R"(
static_assert(clz(0u) == 32 && clz(uchar(1)) == 7 && ctz(0) == 32 && ctz(8ul) == 3 && popcount(short(-1)) == 16);
static_assert(reverse_bits(1u) == 0x80000000u && rotate(0x80000001u, 1u) == 3 && absdiff(-2, 3) == 5);
static_assert(addsat(INT_MAX, 1) == INT_MAX && subsat(0u, 1u) == 0 && addsat(char(-100), char(-100)) == -128);
static_assert(hadd(INT_MAX, INT_MAX) == INT_MAX && rhadd(1, 2) == 2 && mulhi(0x80000000u, 2u) == 1 && mulhi(-1, 1) == -1);
static_assert(mulhi(~0ul, ~0ul) == ~1ul && madhi(0x80000000u, 2u, 5u) == 6 && madsat(INT_MAX, 2, 1) == INT_MAX);
static_assert(mul24(3, -4) == -12 && mad24(2u, 3u, 4u) == 10);
static_assert(extract_bits(0xabcdu, 4, 8) == 0xbc && extract_bits(-1, 0, 4) == -1 && insert_bits(0u, 0xfu, 4, 4) == 0xf0);
static_assert(all(clz(uint2(1, 0)) == uint2(31, 32)) && extract_bits(5, 0, 0) == 0);
kernel void k(device uint* p) { p[0] = popcount(p[1]); }
)"),
            "k");
}

TEST(StdlibMath, RelationalFunctionsAnswerForEachComponent) {
  EXPECT_EQ(functions_of(std::string(each_size) + R"(
template <class T> void tests(device vec<T, 4>* p, device bool4* b) {
  SAME(isnan(p[0]), bool4) SAME(isnan(p[0].x), bool) SAME(select(p[0], p[1], b[0]), vec<T, 4>)
  b[0] = isfinite(p[0]) && isinf(p[1]) || isnan(p[2]) && isnormal(p[3]) || signbit(p[4]);
  b[1] = isordered(p[0], p[1]) || isunordered(p[2], p[3]);
  b[2].x = all(b[0]) | any(b[1]) | isnan(p[0].x) | signbit(p[1].y);
  p[0] = select(p[0], p[1], b[0]);
  p[1].x = select(p[0].x, p[1].x, b[0].y);
}
static_assert(isnan(NAN) && !isnan(INFINITY) && isinf(-INFINITY) && isfinite(1.0h) && signbit(-0.0f) && !isnormal(1e-40f));
static_assert(isnan(numeric_limits<half>::quiet_NaN()) && isunordered(NAN, 1.0f) && isordered(1.0f, 2.0f));
static_assert(select(1, 2, true) == 2 && all(select(int2(1), int2(2), bool2(false, true)) == int2(1, 2)));
static_assert(all(bool3(true)) && any(bool2(false, true)) && !all(bool4(true, true, true, false)) && all(true));
kernel void k(device float4* f, device half4* h, device bool4* b) { tests(f, b); tests(h, b); }
)"),
            "k");
}

TEST(StdlibMath, GeometricFunctionsTakeVectorsOfEverySize) {
  EXPECT_EQ(functions_of(std::string(each_size) + R"(
template <class T, int N> void geometry(device vec<T, N>* p) {
  SAME(dot(p[0], p[1]), T) SAME(length(p[0]), T) SAME(normalize(p[0]), vec<T, N>) SAME(reflect(p[0], p[1]), vec<T, N>)
  p[0] = normalize(p[1]) * dot(p[0], p[1]) + length(p[2]) + distance(p[3], p[4]);
  p[1] = reflect(p[0], p[1]) + refract(p[2], p[3], T(0.5)) + faceforward(p[0], p[1], p[2]);
  p[2] = length_squared(p[0]) + distance_squared(p[1], p[2]);
}
static_assert(dot(float3(1, 2, 3), float3(4, 5, 6)) == 32 && all(cross(float3(1, 0, 0), float3(0, 1, 0)) == float3(0, 0, 1)));
static_assert(length_squared(half2(3, 4)) == 25 && distance_squared(float2(1), float2(2)) == 2);
kernel void k(device void* m) {
  geometry((device float2*)m); geometry((device float3*)m); geometry((device float4*)m);
  geometry((device half2*)m); geometry((device half3*)m); geometry((device half4*)m);
  ((device float3*)m)[0] = cross(((device float3*)m)[1], ((device packed_float3*)m)[2]);
  ((device half3*)m)[0] = cross(((device half3*)m)[1], half3(1));
}
)"),
            "k");
}

TEST(StdlibMath, MatricesAreDividedByNumbers) {
  EXPECT_EQ(functions_of(R"(
static_assert(float2x2(2, 4, 6, 8) / 2 == float2x2(1, 2, 3, 4) && half3x3(1) / 0.5h == half3x3(2));
kernel void k(device float4x4* m, device half4x4* h, constant float& s) { m[0] = (float4x4) h[0] / s; m[1] /= s; h[1] /= 2.0h; }
)"),
            "k");
}

TEST(StdlibMath, MatricesMultiplyVectorsAndMatrices) {
  EXPECT_EQ(functions_of(std::string(each_size) + R"(
static_assert(sizeof(float3x3) == 48 && alignof(float3x3) == 16 && sizeof(half2x4) == 16 && sizeof(float4x2) == 32);
constexpr float2x3 a(float3(1, 2, 3), float3(4, 5, 6));
static_assert(a[1][2] == 6 && a[0].y == 2 && all(a * float2(1, 1) == float3(5, 7, 9)) && all(float3(1, 0, 0) * a == float2(1, 4)));
static_assert(transpose(a) == float3x2(float2(1, 4), float2(2, 5), float2(3, 6)) && a * float2x2(1) == a);
static_assert(determinant(float2x2(1, 2, 3, 4)) == -2 && determinant(float3x3(2)) == 8 && determinant(float4x4(2)) == 16);
constexpr constant float2x3 columns = {{{1, 2, 3}, {4, 5, 6}}};
static_assert(columns == a && float2x3{{float3(1, 2, 3), float3(4, 5, 6)}} == a && float2x3({{1, 2, 3}, {4, 5, 6}}) == a);
static_assert(float2x3{{1, 2, 3}, {4, 5, 6}} == a && float2x3{1, 2, 3, 4, 5, 6} == a && float2x3{2} == float2x3(2));
static_assert(float2x2(2) == float2x2(2, 0, 0, 2) && a + a == 2 * a && a - a == a * 0 && -a == a * -1);
SAME(float3x4() * float2x3(), float2x4) SAME(half4x4() * half4(), half4) SAME(float4() * float3x4(), float3)
kernel void k(device float4x4* m, device half3x3* h, device float4* v, constant float4x4& c) {
  m[0] = m[1] * c + transpose(m[2]); m[0] *= m[1]; m[1] += m[0]; m[2] *= 2; m[3][0].xy = v[0].zw; m[3][1][2] = 1;
  v[0] = c * v[1] + v[2] * m[0]; v[1].x = determinant(m[0]) + determinant(h[0]);
  h[0] = half3x3(float3x3(1)) * h[1]; m[4] = float4x4(v[0], v[1], v[2], v[3]); m[5] = float4x4(half4x4(1));
}
)"),
            "k");
}

TEST(StdlibMath, PackingGoesBothWaysForEveryFormat) {
  EXPECT_EQ(functions_of(R"(
static_assert(all(unpack_unorm4x8_to_float(0xff0000ffu) == float4(1, 0, 0, 1)) && unpack_snorm2x16_to_float(0x8000u).x == -1);
static_assert(all(unpack_unorm565_to_float(ushort(0xffff)) == float3(1)) && unpack_unorm10a2_to_float(0xc0000000u).w == 1);
kernel void k(device uint* u, device float4* f, device half4* h) {
  u[0] = pack_float_to_unorm4x8(f[0]) ^ pack_float_to_snorm4x8(f[1]) ^ pack_float_to_srgb_unorm4x8(f[2]) ^
         pack_float_to_unorm2x16(f[3].xy) ^ pack_float_to_snorm2x16(f[3].zw) ^ pack_float_to_unorm10a2(f[4]) ^
         pack_float_to_unorm565(f[5].xyz);
  u[1] = pack_half_to_unorm4x8(h[0]) ^ pack_half_to_snorm4x8(h[1]) ^ pack_half_to_srgb_unorm4x8(h[2]) ^
         pack_half_to_unorm2x16(h[3].xy) ^ pack_half_to_snorm2x16(h[3].zw) ^ pack_half_to_unorm10a2(h[4]) ^
         pack_half_to_unorm565(h[5].xyz);
  f[0] = unpack_unorm4x8_to_float(u[0]) + unpack_snorm4x8_to_float(u[1]) + unpack_unorm4x8_srgb_to_float(u[2]) +
         unpack_unorm10a2_to_float(u[3]) + float4(unpack_unorm2x16_to_float(u[4]), unpack_snorm2x16_to_float(u[5])) +
         float4(unpack_unorm565_to_float(ushort(u[6])), 1);
  h[0] = unpack_unorm4x8_to_half(u[0]) + unpack_snorm4x8_to_half(u[1]) + unpack_unorm4x8_srgb_to_half(u[2]) +
         unpack_unorm10a2_to_half(u[3]) + half4(unpack_unorm2x16_to_half(u[4]), unpack_snorm2x16_to_half(u[5])) +
         half4(unpack_unorm565_to_half(ushort(u[6])), 1);
}
)"),
            "k");
}

TEST(StdlibMath, OperandsThatNoFunctionTakesAreOneError) {
  expect_error(R"(
kernel void k(device float3* p, device float4* q) { p[0] = $max(p[1], q[0]); }
)",
               "no matching function for call to 'max'", 2);
  expect_error(R"(
kernel void k(device int4* p) { p[0] = $exp(p[1]); }
)",
               "no matching function for call to 'exp'", 2);
  expect_error(R"(
kernel void k(device float* p) { p[0] = $popcount(p[1]); }
)",
               "no matching function for call to 'popcount'", 2);
  expect_error(R"(
kernel void k(device float4* p) { p[0] = $cross(p[1], p[2]); }
)",
               "cross needs vectors of three components", 2);
}

}  // namespace
}  // namespace metalloid
