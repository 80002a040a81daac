// The types of the standard library: scalars, vectors, packed vectors, their conversions, arrays, limits and traits.
// What is known when compiling is a static_assert in Metal; the rest must give code.
#include "compile_source.hpp"

namespace metalloid {
namespace {

TEST(StdlibTypes, ScalarsHaveTheSizesThatMetalGivesThem) {
  EXPECT_EQ(functions_of(R"(
static_assert(sizeof(bool) == 1 && sizeof(char) == 1 && sizeof(uchar) == 1 && sizeof(short) == 2 && sizeof(ushort) == 2);
static_assert(sizeof(int) == 4 && sizeof(uint) == 4 && sizeof(long) == 8 && sizeof(ulong) == 8);
static_assert(sizeof(half) == 2 && sizeof(bfloat) == 2 && sizeof(float) == 4);
static_assert(sizeof(size_t) == 8 && sizeof(ptrdiff_t) == 8 && sizeof(device int*) == 8);
static_assert(is_same_v<int8_t, char> && is_same_v<uint8_t, uchar> && is_same_v<int16_t, short>);
static_assert(is_same_v<uint16_t, ushort> && is_same_v<int32_t, int> && is_same_v<uint32_t, uint>);
static_assert(is_same_v<int64_t, long> && is_same_v<uint64_t, ulong> && is_same_v<metal::uint, uint>);
static_assert(char(-1) < 0, "char is signed");
static_assert(is_same_v<decltype(1.0), float> && is_same_v<decltype(1.0h), half> && is_same_v<decltype(1.0bf), bfloat>);
static_assert(is_same_v<decltype(1.0h * 2.0h), half> && is_same_v<decltype(1.0h * 2.0f), float>);
kernel void k(device int* p) { *p = 1; }
)"),
            "k");
}

TEST(StdlibTypes, VectorsHaveSizeAndAlignmentOfTheNextPowerOfTwo) {
  EXPECT_EQ(functions_of(R"(
#define CHECK(T) \
  static_assert(sizeof(T##2) == 2 * sizeof(T) && alignof(T##2) == 2 * sizeof(T)); \
  static_assert(sizeof(T##3) == 4 * sizeof(T) && alignof(T##3) == 4 * sizeof(T)); \
  static_assert(sizeof(T##4) == 4 * sizeof(T) && alignof(T##4) == 4 * sizeof(T)); \
  static_assert(sizeof(packed_##T##2) == 2 * sizeof(T) && alignof(packed_##T##2) == alignof(T)); \
  static_assert(sizeof(packed_##T##3) == 3 * sizeof(T) && alignof(packed_##T##3) == alignof(T)); \
  static_assert(sizeof(packed_##T##4) == 4 * sizeof(T) && alignof(packed_##T##4) == alignof(T)); \
  static_assert(is_same_v<T##3, vec<T, 3>> && is_same_v<packed_##T##3, packed_vec<T, 3>>); \
  static_assert(is_trivially_copyable_v<T##4> && is_trivially_default_constructible_v<T##4>); \
  static_assert(is_trivially_copyable_v<packed_##T##3> && is_trivially_default_constructible_v<packed_##T##3>);
CHECK(bool) CHECK(char) CHECK(uchar) CHECK(short) CHECK(ushort) CHECK(int) CHECK(uint) CHECK(long) CHECK(ulong)
CHECK(half) CHECK(bfloat) CHECK(float)
kernel void k(device float3* p) { p[1] = p[0]; }
)"),
            "k");
}

TEST(StdlibTypes, VectorsAreConstructedFromEveryMixOfScalarsAndVectors) {
  EXPECT_EQ(functions_of(R"(
template <class T> constexpr bool constructed() {
  using V2 = vec<T, 2>; using V3 = vec<T, 3>; using V4 = vec<T, 4>;
  const V2 a(T(1), T(2)); const V3 b(T(1), T(2), T(3)); const V4 c(T(1), T(2), T(3), T(4));
  return all(V2(a) == a) && all(V3(a, T(3)) == b) && all(V3(T(1), V2(T(2), T(3))) == b) &&
         all(V4(a, T(3), T(4)) == c) && all(V4(T(1), V2(T(2), T(3)), T(4)) == c) && all(V4(T(1), T(2), V2(T(3), T(4))) == c) &&
         all(V4(a, V2(T(3), T(4))) == c) && all(V4(b, T(4)) == c) && all(V4(T(1), V3(T(2), T(3), T(4))) == c) &&
         all(V4(T(5)) == V4(T(5), T(5), T(5), T(5))) && all(V4{T(1), T(2)} == V4(T(1), T(2), T(0), T(0))) && c[2] == T(3);
}
static_assert(constructed<char>() && constructed<uchar>() && constructed<short>() && constructed<ushort>());
static_assert(constructed<int>() && constructed<uint>() && constructed<long>() && constructed<ulong>());
static_assert(constructed<half>() && constructed<bfloat>() && constructed<float>());
constant float4 table[] = {{1, 2, 3, 4}, float4(0), {5}};
kernel void k(device float4* p, uint i [[thread_position_in_grid]]) {
  float4 v = {p[i].x, 1};
  v = 2;
  p[i] = v + table[i % 3];
}
)"),
            "k");
}

TEST(StdlibTypes, HalfAndBfloatConvertToEachOtherInEveryCast) {
  EXPECT_EQ(functions_of(R"(
template <class To, class From> To convert(From value) { return static_cast<To>(value); }
kernel void k(device half* h, device bfloat* b, device half4* h4, device bfloat4* b4) {
  b[0] = bfloat(h[0]); h[1] = half(b[1]); b[2] = (bfloat)h[2]; h[3] = static_cast<half>(b[3]);
  b[4] = convert<bfloat>(h[4]); h[5] = convert<half>(b[5]);
  b4[0] = bfloat4(h4[0]); h4[1] = half4(b4[1]); b4[2] = bfloat4(h[0]);
  b4[3] = bfloat4(h[0], h[1], h[2], h[3]); h4[3] = half4(b[0], b[1], b[2], b[3]);
  b4[4] = bfloat4(bfloat2(h[0], h[1]), bfloat2(h[2]));
}
)"),
            "k");
}

TEST(StdlibTypes, VectorsOfAProgramsOwnConvertToEachOther) {
  EXPECT_EQ(functions_of(R"(
typedef half half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));
using int8 = int __attribute__((ext_vector_type(8)));
kernel void k(device half8* h, device float8* f, device int8* i) {
  f[0] = float8(h[0]) - 1.0f;
  h[1] = half8(f[1] * 2);
  i[0] = (int8)f[2] + static_cast<int8>(h[2]);
  f[3] = float8(3.0f);
}
)"),
            "k");
}

TEST(StdlibTypes, SwizzlesReadAndWriteByPositionAndByColour) {
  EXPECT_EQ(functions_of(R"(
constexpr bool swizzled() {
  float4 v(1, 2, 3, 4);
  v.xz = float2(5, 6);
  v.gb = v.bg;
  v.wzyx += 1;
  float3 w = v.xxx;
  w.zyx = float3(1, 2, 3);
  w.yz *= 2;
  return all(v == float4(6, 7, 3, 5)) && all(w == float3(3, 4, 2)) && all(v.wzyx == v.abgr) && v.r == 6;
}
static_assert(swizzled());
static_assert(is_same_v<decltype(float4().xy), float2> && is_same_v<decltype(half2().xxyy), half4>);
kernel void k(device float4* p, device packed_float3* q, threadgroup half4* t) {
  p[0].xyz = p[1].zyx;
  p[2].w = p[3].a;
  q[0].xy = q[1].yx + 1;
  t[0].rgb *= t[1].x;
  p[4].xy = {1, 2};
}
)"),
            "k");
  expect_error(R"(
kernel void k(device float4* p) { p[0].$xx = float2(1); }
)",
               "cannot assign to 'xx', which names a component twice");
  expect_error(R"(
kernel void k(device float4* p) { $p[0].xyz.xy = float2(1); }
)",
               "cannot assign to a part of a temporary vector");
  expect_error(R"(
kernel void k(const device float4* p) { $p[0].xy = float2(1); }
)",
               "cannot assign to memory that is constant or const");
}

TEST(StdlibTypes, SwizzlesOfVectorsThatTemplatesDoNotKnowAreOperands) {
  EXPECT_EQ(functions_of(R"(
struct Named { int ab; float2 ra; };
template <class T> struct Box {
  vec<T, 4> v;
  constexpr vec<T, 2> sum() const { return v.xy + v.zw; }
};
template <class T, int n> constexpr T scaled(T x) { return x * n; }
template <class T> constexpr bool swizzled() {
  vec<T, 4> v(1, 2, 3, 4);
  const vec<T, 2> sum = v.xy + v.zw, negative = -v.xy * T(2);
  v.xy = v.rg * 2 - v.ba + T(9);          // 8, 9
  v.zw *= 2;                              // 6, 8
  if (v.x > 0) v.yz += v.zy, v.x -= 1;    // 7, 15, 15, 8
  v.wx = scaled<T, 3>(T(2));              // 6, 15, 15, 6
  v.xw = v.x > v.y ? T(1) : T(5);         // 5, 15, 15, 5
  Named named{1, float2(2)};
  named.ra *= named.ab + 1;
  return all(v == vec<T, 4>(5, 15, 15, 5)) && all(sum == vec<T, 2>(4, 6)) && all(negative == vec<T, 2>(-2, -4)) &&
         all(named.ra == float2(4)) && all((v.xyz - v.xyz) == 0) && all(Box<T>{v}.sum() == vec<T, 2>(20, 20));
}
static_assert(swizzled<float>() && swizzled<half>() && swizzled<int>() && swizzled<long>());
template <class T> constexpr bool coloured() {
  vec<T, 4> v(1, 2, 3, 4);
  v.r += 1;
  v.g = v.b * v.a;
  v.a -= v.r;
  ++v.b, v.b++;
  return all(v == vec<T, 4>(2, 12, 5, 2)) && -v.r + v.g == T(10);
}
static_assert(coloured<float>() && coloured<int>());
template <class T> void moved(device vec<T, 4>* p, threadgroup vec<T, 3>* q, constant packed_float3& r) {
  p[0].xy = -p[1].zw;
  (p + 1)->xyz = (p + 2)->zyx * T(2) + q[0].zzz;
  q[1].rg = q[0].x < q[1].x ? q[1].bg : q[0].gb;
  p[3].xy = {T(1), T(2)};
  p[4].zw = vec<T, 2>(r.xy * 2.0f + r.yz);
  for (int i = 0; i < 4; ++i) p[i].xy *= i, (p + i)->x += 1;
  if (p[0].x < 0) p[p[1].x < 0 ? 1 : 2].zw -= p[0].xy;
}
kernel void k(device float4* p, threadgroup float3* q, constant packed_float3& r) { moved(p, q, r); }
)"),
            "k");
}

TEST(StdlibTypes, VectorOperatorsWorkComponentByComponentAndWithScalars) {
  EXPECT_EQ(functions_of(R"(
static_assert(all(int4(7) % 4 == int4(3)) && all((int4(1, 2, 3, 4) << 1) == int4(2, 4, 6, 8)) && all(~int2(0) == -1));
static_assert(all(2 * float3(1, 2, 3) == float3(2, 4, 6)) && all(1.0f / float2(2, 4) == float2(0.5f, 0.25f)));
static_assert(all((float2(1, 3) < float2(2, 2)) == bool2(true, false)) && any(!bool2(true, false)));
static_assert(all((bool2(true, false) && bool2(true)) == bool2(true, false)) && all(-float2(1) == float2(-1)));
static_assert(is_same_v<decltype(half4() * 2), half4> && is_same_v<decltype(uchar4() + 1), uchar4>);
static_assert(is_same_v<decltype(int3() == int3()), bool3> && is_same_v<decltype(float2() * 2.0), float2>);
kernel void k(device int4* i, device float4* f, device packed_float4* p) {
  i[0] += 1; i[0] -= i[1]; i[0] *= 2; i[0] /= i[1]; i[0] %= 3; i[0] &= i[1]; i[0] |= 4; i[0] ^= i[1];
  i[0] <<= 1; i[0] >>= i[1]; ++i[0]; i[1]--; i[2] = -i[0]; i[2] = ~i[2]; i[3] = i[0] << uint4(1);
  f[0] = f[1] * 2 + f[2] / 3.0h - 1; f[1] = f[0] * p[0]; p[1] += f[0]; p[2] = p[0] * p[1] + 2; f[3][1] = f[2][0];
}
)"),
            "k");
  expect_error(R"(
kernel void k(device float4* p, device float3* q) { p[0] = p[1] $+ q[0]; }
)",
               "invalid operands", 4);
  expect_error(R"(
kernel void k(device float4* p, device int4* q) { p[0] $= q[0]; }
)",
               "no viable overloaded '='", 4);
}

TEST(StdlibTypes, ObjectsThatConvertToAScalarAreOperandsOfVectors) {
  EXPECT_EQ(functions_of(R"(
struct Number {
  float value;
  operator float() const { return value; }
};
kernel void k(device float4* p, constant Number& n) { p[0] = n * p[1] * n + 2; p[0] += make_uniform(2.0f); }
)"),
            "k");
}

TEST(StdlibTypes, VolatileVectorsAreReadWrittenAndUpdated) {
  EXPECT_EQ(functions_of(R"(
kernel void k(volatile device float4* p, volatile threadgroup int2* t) {
  float4 v = p[0];
  p[1] = v;
  p[1] += v; p[1] *= 2; p[2] -= 1.0f;
  t[0] <<= 1; t[0] |= int2(3);
}
)"),
            "k");
}

TEST(StdlibTypes, PackedVectorsConvertAndComputeAsVectors) {
  EXPECT_EQ(functions_of(R"(
static_assert(all(float3(packed_float3(1, 2, 3)) == packed_float3(1, 2, 3)));
static_assert(is_same_v<decltype(packed_float3() + packed_float3()), float3>);
static_assert(is_same_v<decltype(packed_half2() * half2()), half2>);
struct Vertex { packed_float3 position; float weight; packed_half3 normal; };
static_assert(sizeof(Vertex) == 24);
kernel void k(device Vertex* v, constant packed_float3* table, constant bool& c) {
  float3 p = v[0].position;
  v[1].position = p * 2 + table[0] - dot(p, v[2].position);
  v[1].position[0] += 1;
  float3 q = c ? v[3].position : p;
  packed_float3 r = c ? table[1] : v[3].position;
  v[2].position = normalize(cross(q, r)) * length(v[4].position);
  v[2].normal = packed_half3(half3(v[3].position));
}
)"),
            "k");
}

TEST(StdlibTypes, TheSizeOfAVectorIsDeducedAsAnyIntegralType) {
  EXPECT_EQ(functions_of(R"(
template <class T, int N> T sum(vec<T, N> v) { T s = 0; for (int i = 0; i < N; ++i) s += v[i]; return s; }
template <class T, uint N> vec<uint, N> bits(vec<T, N> v) { return as_type<vec<uint, N>>(v); }
template <class T, size_t N> constexpr size_t size(vec<T, N>) { return N; }
template <class T, ushort V, uint N> constexpr uint count(const thread vec<T, V> (&)[N]) { return V * N; }
template <class T> struct rank { static constexpr constant int value = 0; };
template <class T, uint N> struct rank<vec<T, N>> { static constexpr constant int value = N; };
template <class T, short N> struct rank<packed_vec<T, N>> { static constexpr constant int value = -N; };
static_assert(size(float3()) == 3 && rank<half4>::value == 4 && rank<packed_int2>::value == -2 && rank<int>::value == 0);
kernel void k(device float4* p, device uint4* q) {
  float2 pair[3] = {};
  q[0] = bits(p[0]) + count(pair);
  p[1] = sum(p[0]);
}
)"),
            "k");
}

TEST(StdlibTypes, AsTypeKeepsTheBitsOfTypesOfOneSize) {
  EXPECT_EQ(functions_of(R"(
static_assert(as_type<uint>(1.0f) == 0x3f800000u && as_type<half>(ushort(0x3c00)) == 1.0h);
static_assert(all(as_type<uchar4>(0x04030201u) == uchar4(1, 2, 3, 4)) && as_type<ushort>(1.0bf) == 0x3f80);
kernel void k(device float4* f, device half2* h, device uint4* u) {
  u[0] = as_type<uint4>(f[0]);
  h[0] = as_type<half2>(u[1].x);
  f[1] = as_type<float4>(half4x2(h[1], h[2], h[3], h[4]));
}
)"),
            "k");
  expect_error(R"(
kernel void k(device float* f, device half* h) { f[0] = $as_type<float>(h[0]); }
)",
               "as_type needs types of the same size", 4);
}

TEST(StdlibTypes, ArraysAreValuesWithTheMembersOfTheStandardOnes) {
  EXPECT_EQ(functions_of(R"(
constexpr array<int, 3> a = {1, 2, 3};
static_assert(a.size() == 3 && !a.empty() && a[1] == 2 && a.front() == 1 && a.back() == 3 && a.data()[2] == 3);
static_assert(a == array<int, 3>{1, 2, 3} && a != array<int, 3>{1, 2, 4});
constexpr int total() { int sum = 0; for (int x : a) sum += x; return sum; }
static_assert(total() == 6);
struct Params { array<float4, 2> rows; };
float first(array_ref<float> values) { return values.empty() ? 0 : values.front() + values[values.size() - 1]; }
kernel void k(device float4* out, constant Params& p, array<texture2d<float>, 4> t [[texture(0)]], uint i [[thread_position_in_grid]]) {
  array<float, 4> x;
  x.fill(2);
  for (thread float& y : x) y += 1;
  array<float4, 2> rows = p.rows;
  out[i] = rows[i & 1] + x[i & 3] + t[i & 3].read(uint2(0)) + first(x);
}
)"),
            "k");
}

TEST(StdlibTypes, LimitsAreKnownForEveryScalar) {
  EXPECT_EQ(functions_of(R"(
static_assert(numeric_limits<int>::max() == INT_MAX && numeric_limits<int>::min() == INT_MIN && numeric_limits<int>::lowest() == INT_MIN);
static_assert(numeric_limits<uchar>::max() == 255 && numeric_limits<char>::min() == -128 && numeric_limits<bool>::max());
static_assert(numeric_limits<ulong>::max() == ULONG_MAX && numeric_limits<long>::min() == LONG_MIN);
static_assert(numeric_limits<ushort>::digits == 16 && numeric_limits<short>::digits == 15 && numeric_limits<float>::digits == 24);
static_assert(numeric_limits<float>::max() == FLT_MAX && numeric_limits<float>::epsilon() == FLT_EPSILON);
static_assert(numeric_limits<float>::lowest() == -FLT_MAX && numeric_limits<float>::infinity() > FLT_MAX);
static_assert(numeric_limits<half>::max() == HALF_MAX && float(numeric_limits<half>::max()) == 65504.0f);
static_assert(numeric_limits<half>::epsilon() == HALF_EPSILON && float(numeric_limits<bfloat>::epsilon()) == 0.0078125f);
static_assert(isnan(numeric_limits<float>::quiet_NaN()) && isinf(numeric_limits<half>::infinity()));
static_assert(numeric_limits<float>::is_iec559 && numeric_limits<int>::is_integer && !numeric_limits<uint>::is_signed);
static_assert(!numeric_limits<float3>::is_specialized && numeric_limits<bfloat>::is_specialized);
static_assert(INFINITY > FLT_MAX && isnan(NAN) && UINT_MAX == ~0u && SHRT_MAX == 32767 && M_PI_F > 3.14f && M_PI_H > 3.1h);
kernel void k(device bfloat* p) { p[0] = numeric_limits<bfloat>::lowest(); p[1] = bfloat(-INFINITY); p[2] = BFLT_MAX; }
)"),
            "k");
}

TEST(StdlibTypes, TraitsAskAboutTheElementsOfVectors) {
  EXPECT_EQ(functions_of(R"(
static_assert(is_integral_v<int> && is_integral_v<int4> && is_integral_v<packed_uchar3> && !is_integral_v<float2>);
static_assert(is_floating_point_v<half> && is_floating_point_v<const float2> && is_floating_point_v<bfloat4>);
static_assert(is_arithmetic_v<uint2> && is_arithmetic_v<bool> && is_signed_v<short3> && is_unsigned_v<uint4>);
static_assert(is_scalar_v<float> && !is_scalar_v<float2> && is_vector_v<float2> && !is_vector_v<float>);
static_assert(is_same_v<make_scalar_t<float4>, float> && is_same_v<make_vector_t<int, 3>, int3>);
static_assert(vec_elements_v<half3> == 3 && is_same_v<make_unsigned_t<int2>, uint2> && is_same_v<make_signed_t<uchar>, char>);
kernel void k(device int* p) { *p = is_integral<int>(); }
)"),
            "k");
}

TEST(StdlibTypes, ArgumentsOfIndirectDispatchesAndDrawsAreThoseOfTheHost) {
  EXPECT_EQ(functions_of(R"(
static_assert(sizeof(MTLDispatchThreadgroupsIndirectArguments) == 12 && sizeof(MTLStageInRegionIndirectArguments) == 24);
static_assert(sizeof(MTLDrawPrimitivesIndirectArguments) == 16 && sizeof(MTLDrawPatchIndirectArguments) == 16);
kernel void k(device MTLDispatchThreadgroupsIndirectArguments& dispatch [[buffer(0)]],
              device MTLDrawIndexedPrimitivesIndirectArguments* draws [[buffer(1)]], constant uint& n [[buffer(2)]]) {
  dispatch.threadgroupsPerGrid[0] = (n + 63) / 64;
  draws->baseVertex = -1;
}
)"),
            "k");
}

TEST(StdlibTypes, TraitsAreThoseOfCxx) {
  EXPECT_EQ(functions_of(R"(
struct Base {}; struct Derived : Base { int x; }; enum class E : uchar { a }; union U { int i; float f; };
static_assert(is_base_of_v<Base, Derived> && is_convertible_v<int, float> && !is_convertible_v<float, device int*>);
static_assert(is_class_v<Base> && is_enum_v<E> && is_union_v<U> && is_pointer_v<device int*> && is_array_v<int[2]>);
static_assert(is_same_v<remove_cv_t<const volatile int>, int> && is_same_v<remove_reference_t<thread int&>, int>);
static_assert(is_same_v<conditional_t<true, int, float>, int> && is_same_v<enable_if_t<true, half>, half>);
static_assert(is_same_v<underlying_type_t<E>, uchar> && is_same_v<decay_t<const thread int&>, int>);
static_assert(is_same_v<common_type_t<int, float>, float> && is_same_v<decltype(declval<int>()), thread int&&>);
static_assert(conjunction_v<true_type, is_same<int, int>> && disjunction_v<false_type, true_type> && negation_v<false_type>);
static_assert(integral_constant<int, 3>::value == 3 && bool_constant<true>() && is_void_v<void> && is_const_v<const int>);
static_assert(is_trivially_copyable_v<Derived> && is_default_constructible_v<Base> && is_constructible_v<float, int>);
static_assert(is_function_v<int(float)> && is_reference_v<thread int&> && is_lvalue_reference_v<thread int&>);
static_assert(index_sequence_for<int, float>::size() == 2 && make_index_sequence<4>::size() == 4);
template <size_t... I> constexpr size_t sum(index_sequence<I...>) { return (I + ...); }
static_assert(sum(make_index_sequence<4>()) == 6);
template <class T> enable_if_t<is_floating_point<T>::value, int> kind(T) { return 1; }
template <class T> enable_if_t<is_integral<T>::value, int> kind(T) { return 2; }
kernel void k(device int* p) { p[0] = kind(1.0h) + kind(2u); swap(p[0], p[1]); }
)"),
            "k");
}

}  // namespace
}  // namespace metalloid
