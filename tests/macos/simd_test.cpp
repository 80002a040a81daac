// Every function against a plain loop in double precision, on random numbers. Tolerances are a few roundings of float,
// relative to the size of the terms that are added up.
#include <gtest/gtest.h>
#include <simd/simd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {

constexpr double rounding = std::numeric_limits<float>::epsilon();
constexpr int repetitions = 200;

std::mt19937 generator(17);

float random_number() {
  return std::uniform_real_distribution<float>(-4, 4)(generator);
}

template <class V>
V random_vector() {
  V v;
  for (int i = 0; i < V::count; ++i) v[i] = static_cast<typename V::Scalar>(random_number());
  return v;
}

template <class M>
M random_matrix() {
  M m;
  for (auto& column : m.columns) column = random_vector<typename M::Column>();
  return m;
}

template <class V>
double exact_dot(const V& x, const V& y) {
  double sum = 0;
  for (int i = 0; i < V::count; ++i) sum += static_cast<double>(x[i]) * y[i];
  return sum;
}

template <class V>
class FloatVectors : public testing::Test {};
using Types = testing::Types<simd_float2, simd_float3, simd_float4, simd_float8, simd_float16>;
TYPED_TEST_SUITE(FloatVectors, Types);

TYPED_TEST(FloatVectors, OperatorsWorkComponentByComponent) {
  using V = TypeParam;
  for (int n = 0; n < repetitions; ++n) {
    const V x = random_vector<V>(), y = random_vector<V>();
    const float s = random_number();
    V compound = x;
    compound += y;
    compound *= s;
    const V sum = x + y, difference = x - s, product = s * x, quotient = x / y, negative = -x;
    const auto less = x < y;
    for (int i = 0; i < V::count; ++i) {
      EXPECT_EQ(sum[i], x[i] + y[i]);
      EXPECT_EQ(difference[i], x[i] - s);
      EXPECT_EQ(product[i], s * x[i]);
      EXPECT_EQ(quotient[i], x[i] / y[i]);
      EXPECT_EQ(negative[i], -x[i]);
      EXPECT_EQ(compound[i], (x[i] + y[i]) * s);
      EXPECT_EQ(less[i], x[i] < y[i] ? -1 : 0);
    }
  }
}

TYPED_TEST(FloatVectors, CommonFunctionsAreThoseOfEachComponent) {
  using V = TypeParam;
  for (int n = 0; n < repetitions; ++n) {
    const V x = random_vector<V>(), y = random_vector<V>(), t = random_vector<V>();
    const V minimum = simd_min(x, y), maximum = simd::max(x, y), absolute = simd_abs(x), mixed = simd_mix(x, y, t);
    const V clamped = simd_clamp(x, -1.0f, 2.0f), root = sqrt(absolute), fraction = simd_fract(x), sign = simd_sign(x);
    const V smooth = simd_smoothstep(V(-1), V(3), x), step = simd_step(y, x), chosen = simd_select(x, y, x < y);
    const V sine = simd::sin(x), power = simd_pow(absolute, y), rsqrt = simd_rsqrt(absolute), rounded = floor(x);
    double sum = 0, size = 0;
    for (int i = 0; i < V::count; ++i) {
      const double a = x[i], b = y[i], f = t[i];
      EXPECT_EQ(minimum[i], std::fmin(x[i], y[i]));
      EXPECT_EQ(maximum[i], std::fmax(x[i], y[i]));
      EXPECT_EQ(absolute[i], std::fabs(x[i]));
      EXPECT_EQ(clamped[i], std::fmin(std::fmax(x[i], -1.0f), 2.0f));
      EXPECT_EQ(sign[i], x[i] > 0 ? 1 : x[i] < 0 ? -1 : 0);
      EXPECT_EQ(step[i], x[i] < y[i] ? 0 : 1);
      EXPECT_EQ(chosen[i], x[i] < y[i] ? y[i] : x[i]);
      EXPECT_EQ(rounded[i], std::floor(x[i]));
      EXPECT_NEAR(mixed[i], a + f * (b - a), 4 * rounding * (std::fabs(a) + std::fabs(f * (b - a))));
      EXPECT_NEAR(root[i], std::sqrt(std::fabs(a)), rounding * 2);
      EXPECT_NEAR(fraction[i], a - std::floor(a), rounding);
      EXPECT_NEAR(sine[i], std::sin(a), 2 * rounding);
      EXPECT_NEAR(power[i], std::pow(std::fabs(a), b), 4 * rounding * std::pow(std::fabs(a), b));
      EXPECT_NEAR(rsqrt[i], 1 / std::sqrt(std::fabs(a)), 4 * rounding / std::sqrt(std::fabs(a)));
      const double u = std::fmin(std::fmax((a + 1) / 4, 0), 1);
      EXPECT_NEAR(smooth[i], u * u * (3 - 2 * u), 8 * rounding);
      sum += a;
      size += std::fabs(a);
    }
    EXPECT_NEAR(simd_reduce_add(x), sum, V::count * rounding * size);
    EXPECT_EQ(simd_reduce_max(simd_abs(x)), simd_norm_inf(x));
    EXPECT_NEAR(simd_norm_one(x), size, V::count * rounding * size);
    EXPECT_EQ(simd_any(x < y), !simd_all(x >= y));
  }
}

TYPED_TEST(FloatVectors, GeometryIsThatOfDoubles) {
  using V = TypeParam;
  for (int n = 0; n < repetitions; ++n) {
    const V x = random_vector<V>(), y = random_vector<V>();
    const double length = std::sqrt(exact_dot(x, x)), other = std::sqrt(exact_dot(y, y));
    const double tolerance = 2 * V::count * rounding * length * other;
    EXPECT_NEAR(simd_dot(x, y), exact_dot(x, y), tolerance);
    EXPECT_NEAR(simd_length(x), length, V::count * rounding * length);
    EXPECT_NEAR(simd_length_squared(x), length * length, 2 * V::count * rounding * length * length);
    const V difference = x - y;
    EXPECT_NEAR(simd::distance(x, y), std::sqrt(exact_dot(difference, difference)),
                V::count * rounding * (length + other));
    const V unit = simd_normalize(y), reflected = simd_reflect(x, unit), projected = simd_project(x, y);
    for (int i = 0; i < V::count; ++i) {
      EXPECT_NEAR(unit[i], y[i] / other, V::count * rounding);
      EXPECT_NEAR(reflected[i], x[i] - 2 * exact_dot(x, unit) * unit[i], 4 * V::count * rounding * length);
      EXPECT_NEAR(projected[i], exact_dot(x, y) / exact_dot(y, y) * y[i], 4 * V::count * rounding * length);
    }
  }
}

TEST(Vectors, CrossProductsStandUprightOnTheirFactors) {
  for (int n = 0; n < repetitions; ++n) {
    const simd_float3 x = random_vector<simd_float3>(), y = random_vector<simd_float3>();
    const simd_float3 z = simd_cross(x, y);
    EXPECT_NEAR(z.x, double(x.y) * y.z - double(x.z) * y.y, 64 * rounding);
    EXPECT_NEAR(z.y, double(x.z) * y.x - double(x.x) * y.z, 64 * rounding);
    EXPECT_NEAR(z.z, double(x.x) * y.y - double(x.y) * y.x, 64 * rounding);
  }
}

TEST(Vectors, BracesFillInOrderAndANumberFillsAll) {
  const simd_float4 ordered = {1, 2, 3, 4}, part{5, 6}, one = {7}, all = 8, none{};
  EXPECT_TRUE(simd_equal(ordered, simd_make_float4(1, 2, 3, 4)));
  EXPECT_TRUE(simd_equal(part, simd_make_float4(5, 6, 0, 0)));
  EXPECT_TRUE(simd_equal(one, simd_make_float4(7, 0, 0, 0)));
  EXPECT_TRUE(simd_equal(all, simd_make_float4(8, 8, 8, 8)));
  EXPECT_TRUE(simd_equal(none, simd_make_float4(0)));
  constexpr simd::float3 constant = {0, 1, 0};
  EXPECT_EQ(constant.y, 1);
}

TEST(Vectors, ComponentsHaveNames) {
  simd_float4 v = {1, 2, 3, 4};
  EXPECT_EQ(v.x + 10 * v.y + 100 * v.z + 1000 * v.w, 4321);
  EXPECT_EQ(v.r + 10 * v.g + 100 * v.b + 1000 * v.a, 4321);
  EXPECT_TRUE(simd_equal(v.xyz, simd_float3{1, 2, 3}));
  EXPECT_TRUE(simd_equal(v.zw, simd_float2{3, 4}));
  EXPECT_TRUE(simd_equal(v.wzyx, simd_float4{4, 3, 2, 1}));
  EXPECT_TRUE(simd_equal(v.xyz * 2 + v.zyx, simd_float3{5, 6, 7}));
  const auto copy = v.xyz;
  EXPECT_EQ(copy.z, 3);
  v.xy = {7, 8};
  v.zw *= 2.0f;
  EXPECT_TRUE(simd_equal(v, simd_float4{7, 8, 6, 8}));
  const simd_float4 other = {9, 9, 9, 9};
  v.xyz = other.xyz;
  EXPECT_TRUE(simd_equal(v, simd_float4{9, 9, 9, 8}));
  v[3] = 1;
  EXPECT_EQ(v.w, 1);
  const simd_float3 none = 0;
  EXPECT_TRUE(simd_equal(v.w > 0 ? v.xyz : none, simd_float3{9, 9, 9}));
  v.xyz = 0;
  EXPECT_TRUE(simd_equal(v, simd_float4{0, 0, 0, 1}));
}

TEST(Vectors, AreMadeOfParts) {
  const simd_float2 a = {1, 2};
  EXPECT_TRUE(simd_equal(simd_make_float3(a, 3), simd_float3{1, 2, 3}));
  EXPECT_TRUE(simd_equal(simd_make_float4(a, a), simd_float4{1, 2, 1, 2}));
  EXPECT_TRUE(simd_equal(simd_make_float4(0, a, 9), simd_float4{0, 1, 2, 9}));
  EXPECT_TRUE(simd_equal(vector4(vector3(a, 3.0f), 4.0f), vector4(1.0f, 2.0f, 3.0f, 4.0f)));
  EXPECT_TRUE(simd_equal(vector4(a, vector2(3.0f, 4.0f)), vector4(vector3(1.0f, 2.0f, 3.0f), 4.0f)));
  EXPECT_TRUE(simd_equal(vector2(1, 2), simd_make_int2(1, 2)));
  EXPECT_TRUE(simd_equal(simd_make_float4(simd_make_float3(a, 3), 4), simd_float4{1, 2, 3, 4}));
  EXPECT_TRUE(simd_equal(simd_make_float4(a), simd_float4{1, 2, 0, 0}));
  EXPECT_TRUE(simd_equal(simd::make_float2(simd_float4{5, 6, 7, 8}), simd_float2{5, 6}));
  EXPECT_TRUE(simd_equal(simd_int(simd_float2{1.7f, -1.7f}), simd_int2{1, -1}));
  EXPECT_TRUE(simd_equal(simd_float(simd_uchar4{1, 2, 3, 255}), simd_float4{1, 2, 3, 255}));
}

TEST(Vectors, OfIntegersWrapAndShift) {
  const simd_uchar4 bytes = {250, 251, 252, 253};
  EXPECT_TRUE(simd_equal(bytes + 5, simd_uchar4{255, 0, 1, 2}));
  const simd_uint2 bits = {1u, 6u};
  EXPECT_TRUE(simd_equal(bits << 3, simd_uint2{8u, 48u}));
  EXPECT_TRUE(simd_equal((bits | 8u) & ~simd_uint2(1u), simd_uint2{8u, 14u}));
  EXPECT_TRUE(simd_equal(simd_int3{7, -7, 9} % 4, simd_int3{3, -3, 1}));
  EXPECT_EQ(simd_reduce_add(simd_int4{1, 2, 3, -10}), -4);
}

TEST(Vectors, PackedOnesReadUnalignedMemory) {
  float numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  simd_packed_float4* packed = reinterpret_cast<simd_packed_float4*>(numbers + 1);
  const simd_float4 sum = packed[0] + *reinterpret_cast<simd_packed_float4*>(numbers + 3);
  EXPECT_TRUE(simd_equal(sum, simd_float4{4, 6, 8, 10}));
  packed[0] = sum;
  const simd_packed_float2 made = {1, 2}, copied = sum.lo, all = 3;
  EXPECT_TRUE(simd_equal(made + copied + all, simd_float2{8, 11}));
  EXPECT_EQ(numbers[1], 4);
  EXPECT_EQ(numbers[5], 5);
}

TEST(Vectors, OfNaNsLoseInMinAndMax) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(simd_equal(simd_min(simd_float2{nan, 1}, simd_float2{2, nan}), simd_float2{2, 1}));
  EXPECT_TRUE(simd_equal(simd_max(simd_float2{nan, 1}, simd_float2{2, nan}), simd_float2{2, 1}));
  EXPECT_FALSE(simd_equal(simd_float2{nan, 1}, simd_float2{nan, 1}));
}

template <class M>
class Matrices : public testing::Test {};
using SquareMatrices = testing::Types<simd_float2x2, simd_float3x3, simd_float4x4>;
TYPED_TEST_SUITE(Matrices, SquareMatrices);

TYPED_TEST(Matrices, MultiplyAsRowsTimesColumns) {
  using M = TypeParam;
  using V = typename M::Column;
  constexpr int N = V::count;
  for (int n = 0; n < repetitions; ++n) {
    const M x = random_matrix<M>(), y = random_matrix<M>();
    const V v = random_vector<V>();
    const M product = simd_mul(x, y), transposed = simd_transpose(x);
    const V image = simd_mul(x, v), row_image = simd_mul(v, x);
    for (int c = 0; c < N; ++c) {
      double of_vector = 0, of_row = 0;
      for (int k = 0; k < N; ++k) of_vector += double(x.columns[k][c]) * v[k], of_row += double(x.columns[c][k]) * v[k];
      EXPECT_NEAR(image[c], of_vector, 16 * N * rounding * 2);
      EXPECT_NEAR(row_image[c], of_row, 16 * N * rounding * 2);
      for (int r = 0; r < N; ++r) {
        double element = 0;
        for (int k = 0; k < N; ++k) element += double(x.columns[k][r]) * y.columns[c][k];
        EXPECT_NEAR(product.columns[c][r], element, 16 * N * rounding * 2);
        EXPECT_EQ(transposed.columns[r][c], x.columns[c][r]);
      }
    }
  }
}

// Gaussian elimination in double precision.
template <int N>
double exact_determinant(const metalloid::macos::Matrix<float, N, N>& matrix) {
  double m[N][N], result = 1;
  for (int c = 0; c < N; ++c)
    for (int r = 0; r < N; ++r) m[r][c] = matrix.columns[c][r];
  for (int k = 0; k < N; ++k) {
    int pivot = k;
    for (int r = k + 1; r < N; ++r)
      if (std::fabs(m[r][k]) > std::fabs(m[pivot][k])) pivot = r;
    if (pivot != k) result = -result;
    for (int c = 0; c < N; ++c) std::swap(m[k][c], m[pivot][c]);
    result *= m[k][k];
    for (int r = k + 1; r < N; ++r) {
      const double factor = m[r][k] / m[k][k];
      for (int c = k; c < N; ++c) m[r][c] -= factor * m[k][c];
    }
  }
  return result;
}

TYPED_TEST(Matrices, TimesTheirInversesAreTheIdentity) {
  using M = TypeParam;
  constexpr int N = M::Column::count;
  const double size = std::pow(4.0 * std::sqrt(N), N);  // the largest a determinant can be
  for (int n = 0; n < repetitions; ++n) {
    const M x = random_matrix<M>();
    const double determinant = exact_determinant<N>(x);
    EXPECT_NEAR(simd_determinant(x), determinant, 8 * rounding * size);
    if (std::fabs(determinant) < 1) continue;  // too near to a matrix that has no inverse
    const M product = x * simd_inverse(x);
    for (int c = 0; c < N; ++c)
      for (int r = 0; r < N; ++r)
        EXPECT_NEAR(product.columns[c][r], c == r ? 1 : 0, 16 * rounding * size / std::fabs(determinant));
  }
}

TEST(MatrixForms, AreMadeAsOnAMac) {
  const matrix_float4x4 braces = {{{1, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 3, 0}, {4, 5, 6, 1}}};
  const simd::float4x4 columns(simd_float4{1, 0, 0, 0}, simd_float4{0, 2, 0, 0}, simd_float4{0, 0, 3, 0},
                               simd_float4{4, 5, 6, 1});
  const simd_float4x4 rows = simd_matrix_from_rows(simd_float4{1, 0, 0, 4}, simd_float4{0, 2, 0, 5},
                                                   simd_float4{0, 0, 3, 6}, simd_float4{0, 0, 0, 1});
  EXPECT_TRUE(simd_equal(braces, columns));
  EXPECT_TRUE(simd_equal(rows, columns));
  EXPECT_TRUE(simd_equal(simd::float4x4(1.0f), matrix_identity_float4x4));
  EXPECT_TRUE(simd_equal(simd_diagonal_matrix(simd_float3{1, 1, 1}), matrix_identity_float3x3));
  EXPECT_TRUE(simd_equal(columns * simd_float4{1, 1, 1, 1}, simd_float4{5, 7, 9, 1}));
  const simd::float3x3 upper = simd_matrix(columns.columns[0].xyz, columns.columns[1].xyz, columns.columns[2].xyz);
  EXPECT_EQ(simd::determinant(upper), 6);
  const simd_float4x2 wide =
      simd_mul(simd_float3x2{{{1, 0}, {0, 1}, {1, 1}}}, simd_float4x3{{{1, 2, 3}, {}, {}, {4, 5, 6}}});
  EXPECT_TRUE(simd_equal(wide.columns[3], simd_float2{10, 11}));
}

TEST(Quaternions, RotateLikeTheirMatrices) {
  for (int n = 0; n < repetitions; ++n) {
    const simd_float3 axis = simd_normalize(random_vector<simd_float3>()), v = random_vector<simd_float3>();
    const float angle = std::uniform_real_distribution<float>(0.1f, 3)(generator);
    const simd_quatf q = simd_quaternion(angle, axis);
    EXPECT_NEAR(simd_angle(q), angle, 8 * rounding);
    EXPECT_LT(simd_distance(simd_axis(q), axis), 64 * rounding);
    const simd_float3 turned = simd_act(q, v);
    EXPECT_LT(simd_distance(turned, simd_mul(simd_matrix3x3(q), v)), 64 * rounding);
    EXPECT_LT(simd_distance(simd_act(simd_inverse(q), turned), v), 64 * rounding);
    EXPECT_LT(simd_distance(simd_act(q * q, v), simd_act(q, turned)), 128 * rounding);
    // Rodrigues' formula.
    const double c = std::cos(double(angle)), s = std::sin(double(angle));
    const simd_float3 upright = simd_cross(axis, v);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(turned[i], v[i] * c + upright[i] * s + axis[i] * exact_dot(axis, v) * (1 - c), 64 * rounding);
    const simd_quatf back = simd_quaternion(simd_matrix4x4(q)), half = simd_slerp(simd_quaternion(0.0f, axis), q, 0.5f);
    EXPECT_NEAR(std::fabs(simd_dot(back, q)), 1, 16 * rounding);
    EXPECT_NEAR(simd_angle(half), angle / 2, 32 * rounding);
    const simd_float3 to = simd_normalize(random_vector<simd_float3>());
    EXPECT_LT(simd_distance(simd_act(simd_quaternion(axis, to), axis), to), 64 * rounding);
  }
  const simd_float3 x = {1, 0, 0};
  EXPECT_LT(simd_distance(simd_act(simd_quaternion(x, -x), x), -x), 8 * rounding);
}

}  // namespace
