// Rotations as quaternions: simd_quatf and simd_quatd hold (x, y, z, real) in one vector.
#pragma once

#include <simd/matrix.h>
#include <simd/vector_make.h>

namespace metalloid::macos {

template <class T>
struct Quaternion {
  Vector<T, 4> vector;

  friend Quaternion operator+(const Quaternion& p, const Quaternion& q) { return {p.vector + q.vector}; }
  friend Quaternion operator-(const Quaternion& p, const Quaternion& q) { return {p.vector - q.vector}; }
  friend Quaternion operator-(const Quaternion& q) { return {-q.vector}; }
  friend Quaternion operator*(const Quaternion& q, T scalar) { return {q.vector * scalar}; }
  friend Quaternion operator*(T scalar, const Quaternion& q) { return {q.vector * scalar}; }
  friend Quaternion operator/(const Quaternion& q, T scalar) { return {q.vector / scalar}; }
  friend Quaternion operator*(const Quaternion& p, const Quaternion& q) {
    const Vector<T, 4>&a = p.vector, &b = q.vector;
    return {{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,  //
             a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,  //
             a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,  //
             a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z}};
  }
};

}  // namespace metalloid::macos

namespace metalloid::macos::functions {

template <class T>
inline Quaternion<T> normalized(const Quaternion<T>& q) {
  T length = std::sqrt(dot(q.vector, q.vector));
  if (length == 0) return {{0, 0, 0, 1}};
  return {q.vector / length};
}

template <class T>
inline Quaternion<T> rotation(T angle, const Vector<T, 3>& axis) {
  T sine = std::sin(angle / 2);
  return {{sine * axis.x, sine * axis.y, sine * axis.z, std::cos(angle / 2)}};
}

// Half the way from one direction to the other, by which the product of the two rotates the whole way. Of opposite
// directions, any axis that stands upright on them will do.
template <class T>
inline Quaternion<T> rotation_between(const Vector<T, 3>& from, const Vector<T, 3>& to) {
  Vector<T, 3> half = from + to;
  T length = std::sqrt(dot(half, half));
  if (length < T(1e-6)) {
    Vector<T, 3> size = map(component::abs, from);
    Vector<T, 3> other = size.x <= size.y && size.x <= size.z ? Vector<T, 3>{1, 0, 0}
                         : size.y <= size.z                   ? Vector<T, 3>{0, 1, 0}
                                                              : Vector<T, 3>{0, 0, 1};
    Vector<T, 3> axis = simd_normalize(simd_cross(from, other));
    return {{axis.x, axis.y, axis.z, 0}};
  }
  half /= length;
  Vector<T, 3> axis = simd_cross(from, half);
  return {{axis.x, axis.y, axis.z, dot(from, half)}};
}

// The largest of the four components is computed from the diagonal, the others by dividing by it.
template <class T>
inline Quaternion<T> rotation_of(const Vector<T, 3>& a, const Vector<T, 3>& b, const Vector<T, 3>& c) {
  T trace = a.x + b.y + c.z;
  if (trace >= 0) {
    T s = 2 * std::sqrt(trace + 1);
    return {{(b.z - c.y) / s, (c.x - a.z) / s, (a.y - b.x) / s, s / 4}};
  }
  if (a.x >= b.y && a.x >= c.z) {
    T s = 2 * std::sqrt(1 - b.y - c.z + a.x);
    return {{s / 4, (a.y + b.x) / s, (c.x + a.z) / s, (b.z - c.y) / s}};
  }
  if (b.y >= c.z) {
    T s = 2 * std::sqrt(1 - a.x - c.z + b.y);
    return {{(a.y + b.x) / s, s / 4, (b.z + c.y) / s, (c.x - a.z) / s}};
  }
  T s = 2 * std::sqrt(1 - a.x - b.y + c.z);
  return {{(c.x + a.z) / s, (b.z + c.y) / s, s / 4, (a.y - b.x) / s}};
}

template <class T>
inline Matrix<T, 3, 3> matrix_of(const Quaternion<T>& q) {
  T x = q.vector.x, y = q.vector.y, z = q.vector.z, w = q.vector.w;
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)},
           {2 * (x * y - z * w), 1 - 2 * (z * z + x * x), 2 * (y * z + x * w)},
           {2 * (z * x + y * w), 2 * (y * z - x * w), 1 - 2 * (y * y + x * x)}}};
}

template <class T>
inline Quaternion<T> slerp_along(const Vector<T, 4>& from, const Vector<T, 4>& to, T t) {
  Vector<T, 4> difference = from - to, sum = from + to;
  T angle = 2 * std::atan2(std::sqrt(dot(difference, difference)), std::sqrt(dot(sum, sum)));
  T sine = std::sin(angle);
  if (sine < T(1e-6)) return normalized(Quaternion<T>{from + t * (to - from)});
  return normalized(Quaternion<T>{from * (std::sin((1 - t) * angle) / sine) + to * (std::sin(t * angle) / sine)});
}

}  // namespace metalloid::macos::functions

namespace metalloid::macos {

template <class T>
struct ConstructedQuaternion : Quaternion<T> {
  using Base = Quaternion<T>;

  ConstructedQuaternion() : Base{} {}
  ConstructedQuaternion(const Base& q) : Base(q) {}
  ConstructedQuaternion(T x, T y, T z, T real) : Base{{x, y, z, real}} {}
  ConstructedQuaternion(T real, const Vector<T, 3>& imaginary) : Base{{imaginary.x, imaginary.y, imaginary.z, real}} {}
  explicit ConstructedQuaternion(const Vector<T, 4>& vector) : Base{vector} {}
  explicit ConstructedQuaternion(const Matrix<T, 3, 3>& m)
      : Base(functions::rotation_of(m.columns[0], m.columns[1], m.columns[2])) {}

  T real() const { return this->vector.w; }
  Vector<T, 3> imag() const { return this->vector.xyz; }
  T operator[](int i) const { return this->vector[i]; }
};

}  // namespace metalloid::macos

#define METALLOID_SIMD_QUATERNION(T, Q)                                                                           \
  typedef metalloid::macos::Quaternion<T> simd_##Q;                                                               \
  inline simd_##Q simd_quaternion(T x, T y, T z, T real) {                                                        \
    return {{x, y, z, real}};                                                                                     \
  }                                                                                                               \
  inline simd_##Q simd_quaternion(simd_##T##4 vector) {                                                           \
    return {vector};                                                                                              \
  }                                                                                                               \
  inline simd_##Q simd_quaternion(const T* xyzr) {                                                                \
    return {{xyzr[0], xyzr[1], xyzr[2], xyzr[3]}};                                                                \
  }                                                                                                               \
  inline simd_##Q simd_quaternion(T angle, simd_##T##3 axis) {                                                    \
    return metalloid::macos::functions::rotation(angle, axis);                                                    \
  }                                                                                                               \
  inline simd_##Q simd_quaternion(simd_##T##3 from, simd_##T##3 to) {                                             \
    return metalloid::macos::functions::rotation_between(from, to);                                               \
  }                                                                                                               \
  inline simd_##Q simd_quaternion(simd_##T##3x3 m) {                                                              \
    return metalloid::macos::functions::rotation_of(m.columns[0], m.columns[1], m.columns[2]);                    \
  }                                                                                                               \
  inline simd_##Q simd_quaternion(simd_##T##4x4 m) {                                                              \
    return metalloid::macos::functions::rotation_of(simd_##T##3(m.columns[0].xyz), simd_##T##3(m.columns[1].xyz), \
                                                    simd_##T##3(m.columns[2].xyz));                               \
  }                                                                                                               \
  inline T simd_real(simd_##Q q) {                                                                                \
    return q.vector.w;                                                                                            \
  }                                                                                                               \
  inline simd_##T##3 simd_imag(simd_##Q q) {                                                                      \
    return q.vector.xyz;                                                                                          \
  }                                                                                                               \
  inline T simd_dot(simd_##Q p, simd_##Q q) {                                                                     \
    return simd_dot(p.vector, q.vector);                                                                          \
  }                                                                                                               \
  inline T simd_length(simd_##Q q) {                                                                              \
    return simd_length(q.vector);                                                                                 \
  }                                                                                                               \
  inline T simd_angle(simd_##Q q) {                                                                               \
    return 2 * std::atan2(simd_length(simd_imag(q)), simd_real(q));                                               \
  }                                                                                                               \
  inline simd_##T##3 simd_axis(simd_##Q q) {                                                                      \
    return simd_normalize(simd_imag(q));                                                                          \
  }                                                                                                               \
  inline simd_##Q simd_conjugate(simd_##Q q) {                                                                    \
    return {q.vector * simd_##T##4 {-1, -1, -1, 1}};                                                              \
  }                                                                                                               \
  inline simd_##Q simd_inverse(simd_##Q q) {                                                                      \
    return simd_conjugate(q) / simd_length_squared(q.vector);                                                     \
  }                                                                                                               \
  inline simd_##Q simd_normalize(simd_##Q q) {                                                                    \
    return metalloid::macos::functions::normalized(q);                                                            \
  }                                                                                                               \
  inline simd_##Q simd_add(simd_##Q p, simd_##Q q) {                                                              \
    return p + q;                                                                                                 \
  }                                                                                                               \
  inline simd_##Q simd_sub(simd_##Q p, simd_##Q q) {                                                              \
    return p - q;                                                                                                 \
  }                                                                                                               \
  inline simd_##Q simd_negate(simd_##Q q) {                                                                       \
    return -q;                                                                                                    \
  }                                                                                                               \
  inline simd_##Q simd_mul(simd_##Q p, simd_##Q q) {                                                              \
    return p * q;                                                                                                 \
  }                                                                                                               \
  inline simd_##Q simd_mul(simd_##Q q, T scalar) {                                                                \
    return q * scalar;                                                                                            \
  }                                                                                                               \
  inline simd_##Q simd_mul(T scalar, simd_##Q q) {                                                                \
    return q * scalar;                                                                                            \
  }                                                                                                               \
  inline bool simd_equal(simd_##Q p, simd_##Q q) {                                                                \
    return simd_equal(p.vector, q.vector);                                                                        \
  }                                                                                                               \
  inline simd_##T##3x3 simd_matrix3x3(simd_##Q q) {                                                               \
    return metalloid::macos::functions::matrix_of(q);                                                             \
  }                                                                                                               \
  inline simd_##T##4x4 simd_matrix4x4(simd_##Q q) {                                                               \
    simd_##T##3x3 m = metalloid::macos::functions::matrix_of(q);                                                  \
    return {{simd_make_##T##4(m.columns[0]),                                                                      \
             simd_make_##T##4(m.columns[1]),                                                                      \
             simd_make_##T##4(m.columns[2]),                                                                      \
             {0, 0, 0, 1}}};                                                                                      \
  }                                                                                                               \
  inline simd_##T##3 simd_act(simd_##Q q, simd_##T##3 v) { /* q v q* without the products with zero */            \
    simd_##T##3 t = 2 * simd_cross(simd_imag(q), v);                                                              \
    return v + simd_real(q) * t + simd_cross(simd_imag(q), t);                                                    \
  }                                                                                                               \
  inline simd_##Q simd_slerp(simd_##Q p, simd_##Q q, T t) {                                                       \
    return metalloid::macos::functions::slerp_along(p.vector, simd_dot(p, q) < 0 ? -q.vector : q.vector, t);      \
  }                                                                                                               \
  inline simd_##Q simd_slerp_longest(simd_##Q p, simd_##Q q, T t) {                                               \
    return metalloid::macos::functions::slerp_along(p.vector, simd_dot(p, q) >= 0 ? -q.vector : q.vector, t);     \
  }                                                                                                               \
  namespace simd {                                                                                                \
  typedef ::metalloid::macos::ConstructedQuaternion<T> Q;                                                         \
  inline Q conjugate(::simd_##Q q) {                                                                              \
    return simd_conjugate(q);                                                                                     \
  }                                                                                                               \
  inline Q inverse(::simd_##Q q) {                                                                                \
    return simd_inverse(q);                                                                                       \
  }                                                                                                               \
  inline Q normalize(::simd_##Q q) {                                                                              \
    return simd_normalize(q);                                                                                     \
  }                                                                                                               \
  inline Q slerp(::simd_##Q p, ::simd_##Q q, T t) {                                                               \
    return simd_slerp(p, q, t);                                                                                   \
  }                                                                                                               \
  inline T dot(::simd_##Q p, ::simd_##Q q) {                                                                      \
    return simd_dot(p, q);                                                                                        \
  }                                                                                                               \
  inline T length(::simd_##Q q) {                                                                                 \
    return simd_length(q);                                                                                        \
  }                                                                                                               \
  inline T angle(::simd_##Q q) {                                                                                  \
    return simd_angle(q);                                                                                         \
  }                                                                                                               \
  inline ::simd_##T##3 axis(::simd_##Q q) {                                                                       \
    return simd_axis(q);                                                                                          \
  }                                                                                                               \
  inline ::simd_##T##3 act(::simd_##Q q, ::simd_##T##3 v) {                                                       \
    return simd_act(q, v);                                                                                        \
  }                                                                                                               \
  }
METALLOID_SIMD_QUATERNION(float, quatf)
METALLOID_SIMD_QUATERNION(double, quatd)
#undef METALLOID_SIMD_QUATERNION
