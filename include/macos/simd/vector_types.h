// The vectors of <simd/simd.h>: a few numbers of one type with the size and alignment that the same name has in a
// shader and on a Mac, so that one struct serves both. On a Mac they are a language extension of Clang; here they are
// classes, so that every compiler takes them: components have names (.x, .r, .xyz, .zw), braces fill in order and leave
// zeros, one number outside of braces stands for all components, operators work component by component, and comparisons
// give masks of -1 and 0.
//
// What a class cannot do, or would take too long to compile: swizzles of four components that name one of them several
// times, but for a few; `a.zy = b.zy` (say `a.zy = simd_float2(b.zy)`), and `auto p = a.zy` (say which vector p is).
// .xy and .xyz have neither limit.
#pragma once

#pragma GCC system_header  // anonymous structs are no part of the standard, though every compiler has them

#include <math.h>
#include <stdint.h>

#include <cstddef>
#include <initializer_list>
#include <type_traits>

namespace metalloid::macos {

template <class T, int N>
struct Vector;
template <class T, int N>
struct Components;

// A vector with the alignment of one component. It is named after the vector, as the swizzles below are, so that the
// vector's operators take it.
template <class V>
struct Packed;

// Some components of a vector, in some order, as a vector of their own. It lies where the whole vector lies.
template <class Result, int... Indices>
struct Swizzle;

template <class T, int... Indices>
using Pick = Swizzle<Vector<T, sizeof...(Indices)>, Indices...>;

template <class T, int N, int... Indices>
struct Swizzle<Vector<T, N>, Indices...> {
  using Result = Vector<T, N>;

  operator Result() const { return {elements[Indices]...}; }
  T operator[](std::size_t i) const { return Result(*this)[i]; }

  Swizzle& operator=(const Result& values) {
    static_assert(all_differ(), "a component that is named twice cannot be assigned to");
    int i = 0;
    ((elements[Indices] = values[i++]), ...);
    return *this;
  }
  Swizzle& operator+=(const Result& values) { return *this = Result(*this) + values; }
  Swizzle& operator-=(const Result& values) { return *this = Result(*this) - values; }
  Swizzle& operator*=(const Result& values) { return *this = Result(*this) * values; }
  Swizzle& operator/=(const Result& values) { return *this = Result(*this) / values; }

  Swizzle() = default;

 private:
  static constexpr int span = [] {
    int last = 0;
    ((last = Indices > last ? Indices : last), ...);
    return last + 1;
  }();

  static constexpr bool all_differ() {
    unsigned long seen = 0;
    ((seen |= 1ul << Indices), ...);
    int count = 0;
    for (; seen != 0; seen &= seen - 1) ++count;
    return count == N;
  }

  T elements[span];

  // A copy takes everything up to the last component along: right for a vector that is copied as a whole, wrong for
  // one swizzle that is assigned to another.
  Swizzle(const Swizzle&) = default;
  Swizzle& operator=(const Swizzle&) = default;
  template <class, int>
  friend struct Components;
};

#define METALLOID_SIMD_INDEX_x 0
#define METALLOID_SIMD_INDEX_y 1
#define METALLOID_SIMD_INDEX_z 2
#define METALLOID_SIMD_INDEX_w 3
#define METALLOID_SIMD_2(a, b) Pick<T, METALLOID_SIMD_INDEX_##a, METALLOID_SIMD_INDEX_##b> a##b;
#define METALLOID_SIMD_3(a, b, c) \
  Pick<T, METALLOID_SIMD_INDEX_##a, METALLOID_SIMD_INDEX_##b, METALLOID_SIMD_INDEX_##c> a##b##c;
#define METALLOID_SIMD_4(a, b, c, d)                                                                              \
  Pick<T, METALLOID_SIMD_INDEX_##a, METALLOID_SIMD_INDEX_##b, METALLOID_SIMD_INDEX_##c, METALLOID_SIMD_INDEX_##d> \
      a##b##c##d;
#define METALLOID_SIMD_4_ORDERS(a, b, c, d) METALLOID_SIMD_4(a, b, c, d) METALLOID_SIMD_4(a, b, d, c)
#define METALLOID_SIMD_3_OF_2(a, b) METALLOID_SIMD_3(a, b, x) METALLOID_SIMD_3(a, b, y)
#define METALLOID_SIMD_3_OF_3(a, b) METALLOID_SIMD_3_OF_2(a, b) METALLOID_SIMD_3(a, b, z)
#define METALLOID_SIMD_3_OF_4(a, b) METALLOID_SIMD_3_OF_3(a, b) METALLOID_SIMD_3(a, b, w)

// What Components<T, 3> and <T, 4> have in common: every swizzle of two or three of x, y and z but .xy and .xyz, which
// are vectors in themselves.
// clang-format off
#define METALLOID_SIMD_SWIZZLES_OF_XYZ                                                        \
  METALLOID_SIMD_2(x, x) METALLOID_SIMD_2(x, z)                                               \
  METALLOID_SIMD_2(y, x) METALLOID_SIMD_2(y, y) METALLOID_SIMD_2(y, z)                        \
  METALLOID_SIMD_2(z, x) METALLOID_SIMD_2(z, y) METALLOID_SIMD_2(z, z)                        \
  METALLOID_SIMD_3_OF_3(x, x) METALLOID_SIMD_3_OF_2(x, y) METALLOID_SIMD_3_OF_3(x, z)         \
  METALLOID_SIMD_3_OF_3(y, x) METALLOID_SIMD_3_OF_3(y, y) METALLOID_SIMD_3_OF_3(y, z)         \
  METALLOID_SIMD_3_OF_3(z, x) METALLOID_SIMD_3_OF_3(z, y) METALLOID_SIMD_3_OF_3(z, z)         \
  Pick<T, 0, 0, 0, 0> xxxx;                                                                   \
  Pick<T, 1, 1, 1, 1> yyyy;                                                                   \
  Pick<T, 2, 2, 2, 2> zzzz;                                                                   \
  Packed<Vector<T, 2>> xy, rg;                                                                \
  Pick<T, 1, 2> gb;                                                                           \
  Pick<T, 2, 1, 0> bgr;
// clang-format on

template <class T, int N>
struct Components {
  union {
    T elements[N];
    Packed<Vector<T, N / 2>> lo;
  };
};

template <class T>
struct Components<T, 2> {
  union {
    T elements[2];
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    METALLOID_SIMD_2(x, x)
    METALLOID_SIMD_2(x, y)
    METALLOID_SIMD_2(y, x)
    METALLOID_SIMD_2(y, y)
    METALLOID_SIMD_3_OF_2(x, x)
    METALLOID_SIMD_3_OF_2(x, y)
    METALLOID_SIMD_3_OF_2(y, x)
    METALLOID_SIMD_3_OF_2(y, y)
    Pick<T, 0, 0, 0, 0> xxxx;
    Pick<T, 1, 1, 1, 1> yyyy;
    Pick<T, 0, 1, 0, 1> xyxy;
  };
};

template <class T>
struct Components<T, 3> {
  union {
    T elements[3];
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
    METALLOID_SIMD_SWIZZLES_OF_XYZ
    METALLOID_SIMD_3(x, y, z)
    Pick<T, 0, 1, 2> rgb;
  };
};

template <class T>
struct Components<T, 4> {
  union {
    T elements[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    METALLOID_SIMD_SWIZZLES_OF_XYZ
    METALLOID_SIMD_2(x, w)
    METALLOID_SIMD_2(y, w)
    METALLOID_SIMD_2(z, w)
    METALLOID_SIMD_2(w, x)
    METALLOID_SIMD_2(w, y)
    METALLOID_SIMD_2(w, z)
    METALLOID_SIMD_2(w, w)
    METALLOID_SIMD_3(x, x, w)
    METALLOID_SIMD_3(x, y, w)
    METALLOID_SIMD_3(x, z, w)
    METALLOID_SIMD_3(y, x, w)
    METALLOID_SIMD_3(y, y, w)
    METALLOID_SIMD_3(y, z, w)
    METALLOID_SIMD_3(z, x, w)
    METALLOID_SIMD_3(z, y, w)
    METALLOID_SIMD_3(z, z, w)
    METALLOID_SIMD_3_OF_4(x, w)
    METALLOID_SIMD_3_OF_4(y, w)
    METALLOID_SIMD_3_OF_4(z, w)
    METALLOID_SIMD_3_OF_4(w, x)
    METALLOID_SIMD_3_OF_4(w, y)
    METALLOID_SIMD_3_OF_4(w, z)
    METALLOID_SIMD_3_OF_4(w, w)
    Packed<Vector<T, 3>> xyz, rgb;
    Packed<Vector<T, 2>> lo;
    Pick<T, 2, 3> hi, ba;
    Pick<T, 0, 2> even;
    Pick<T, 1, 3> odd;
    Pick<T, 3, 3, 3, 3> wwww;
    METALLOID_SIMD_4_ORDERS(x, y, z, w)
    METALLOID_SIMD_4_ORDERS(x, z, y, w)
    METALLOID_SIMD_4_ORDERS(x, w, y, z)
    METALLOID_SIMD_4_ORDERS(y, x, z, w)
    METALLOID_SIMD_4_ORDERS(y, z, x, w)
    METALLOID_SIMD_4_ORDERS(y, w, x, z)
    METALLOID_SIMD_4_ORDERS(z, x, y, w)
    METALLOID_SIMD_4_ORDERS(z, y, x, w)
    METALLOID_SIMD_4_ORDERS(z, w, x, y)
    METALLOID_SIMD_4_ORDERS(w, x, y, z)
    METALLOID_SIMD_4_ORDERS(w, y, x, z)
    METALLOID_SIMD_4_ORDERS(w, z, x, y)
    METALLOID_SIMD_4(x, x, y, y)
    METALLOID_SIMD_4(x, y, x, y)
    METALLOID_SIMD_4(x, x, z, z)
    METALLOID_SIMD_4(x, z, x, z)
    METALLOID_SIMD_4(y, y, w, w)
    METALLOID_SIMD_4(y, w, y, w)
    METALLOID_SIMD_4(z, z, w, w)
    METALLOID_SIMD_4(z, w, z, w)
    Pick<T, 0, 1, 2, 3> rgba;
    Pick<T, 3, 0, 1, 2> argb;
    Pick<T, 3, 2, 1, 0> abgr;
    Pick<T, 2, 1, 0, 3> bgra;
  };
};

#undef METALLOID_SIMD_INDEX_x
#undef METALLOID_SIMD_INDEX_y
#undef METALLOID_SIMD_INDEX_z
#undef METALLOID_SIMD_INDEX_w
#undef METALLOID_SIMD_2
#undef METALLOID_SIMD_3
#undef METALLOID_SIMD_4
#undef METALLOID_SIMD_4_ORDERS
#undef METALLOID_SIMD_3_OF_2
#undef METALLOID_SIMD_3_OF_3
#undef METALLOID_SIMD_3_OF_4
#undef METALLOID_SIMD_SWIZZLES_OF_XYZ

// The integers that a comparison gives.
template <std::size_t size>
struct Mask;
template <>
struct Mask<1> {
  using Type = signed char;
};
template <>
struct Mask<2> {
  using Type = short;
};
template <>
struct Mask<4> {
  using Type = int;
};
template <>
struct Mask<8> {
  using Type = long;
};

constexpr std::size_t vector_alignment(std::size_t scalar, int count) {
  std::size_t bytes = scalar * (count == 3 ? 4 : count);
  return bytes > 16 ? 16 : bytes;
}

template <class T, int N>
struct alignas(vector_alignment(sizeof(T), N)) Vector : Components<T, N> {
  using Scalar = T;
  using MaskVector = Vector<typename Mask<sizeof(T)>::Type, N>;
  static constexpr int count = N;

  Vector() = default;
  constexpr Vector(std::initializer_list<T> values) : Components<T, N>{{{}}} {
    int i = 0;
    for (T value : values) this->elements[i++] = value;
  }
  template <class S, class = std::enable_if_t<std::is_convertible_v<S, T>>>
  constexpr Vector(S scalar) : Components<T, N>{{{}}} {
    for (T& element : this->elements) element = static_cast<T>(scalar);
  }

  constexpr T& operator[](std::size_t i) { return this->elements[i]; }
  constexpr const T& operator[](std::size_t i) const { return this->elements[i]; }

#define METALLOID_SIMD_OPERATOR(op)                                                                  \
  friend constexpr Vector operator op(const Vector& x, const Vector& y) {                            \
    Vector result(T(0));                                                                             \
    for (int i = 0; i < N; ++i) result.elements[i] = static_cast<T>(x.elements[i] op y.elements[i]); \
    return result;                                                                                   \
  }                                                                                                  \
  friend constexpr Vector& operator op## = (Vector & x, const Vector& y) { return x = x op y; }
  METALLOID_SIMD_OPERATOR(+)
  METALLOID_SIMD_OPERATOR(-)
  METALLOID_SIMD_OPERATOR(*)
  METALLOID_SIMD_OPERATOR(/)
  METALLOID_SIMD_OPERATOR(%)
  METALLOID_SIMD_OPERATOR(&)
  METALLOID_SIMD_OPERATOR(|)
  METALLOID_SIMD_OPERATOR(^)
  METALLOID_SIMD_OPERATOR(<<)
  METALLOID_SIMD_OPERATOR(>>)
#undef METALLOID_SIMD_OPERATOR

#define METALLOID_SIMD_COMPARISON(op)                                                         \
  friend constexpr MaskVector operator op(const Vector& x, const Vector& y) {                 \
    MaskVector result(0);                                                                     \
    for (int i = 0; i < N; ++i) result.elements[i] = x.elements[i] op y.elements[i] ? -1 : 0; \
    return result;                                                                            \
  }
  METALLOID_SIMD_COMPARISON(==)
  METALLOID_SIMD_COMPARISON(!=)
  METALLOID_SIMD_COMPARISON(<)
  METALLOID_SIMD_COMPARISON(<=)
  METALLOID_SIMD_COMPARISON(>)
  METALLOID_SIMD_COMPARISON(>=)
#undef METALLOID_SIMD_COMPARISON

  friend constexpr Vector operator+(const Vector& x) { return x; }
  friend constexpr Vector operator-(const Vector& x) {
    Vector result(T(0));
    for (int i = 0; i < N; ++i) result.elements[i] = static_cast<T>(-x.elements[i]);
    return result;
  }
  friend constexpr Vector operator~(const Vector& x) {
    Vector result(T(0));
    for (int i = 0; i < N; ++i) result.elements[i] = static_cast<T>(~x.elements[i]);
    return result;
  }
  friend constexpr MaskVector operator!(const Vector& x) { return x == Vector(T(0)); }
  friend constexpr Vector& operator++(Vector& x) { return x += Vector(T(1)); }
  friend constexpr Vector& operator--(Vector& x) { return x -= Vector(T(1)); }
};

// A part of a vector turns into a vector wherever one is wanted, but not the other way round: in a choice between the
// two (`hit ? v.xyz : none`) both are to be vectors.
template <class T, int N>
struct Packed<Vector<T, N>> : Components<T, N> {
  Packed() = default;
  explicit constexpr Packed(const Vector<T, N>& vector) : Components<T, N>(vector) {}
  Packed& operator=(const Vector<T, N>& vector) { return *this = Packed(vector); }

  constexpr operator Vector<T, N>() const {
    Vector<T, N> result(T(0));
    for (int i = 0; i < N; ++i) result.elements[i] = this->elements[i];
    return result;
  }
  constexpr T& operator[](std::size_t i) { return this->elements[i]; }
  constexpr const T& operator[](std::size_t i) const { return this->elements[i]; }

  Packed& operator+=(const Vector<T, N>& y) { return *this = *this + y; }
  Packed& operator-=(const Vector<T, N>& y) { return *this = *this - y; }
  Packed& operator*=(const Vector<T, N>& y) { return *this = *this * y; }
  Packed& operator/=(const Vector<T, N>& y) { return *this = *this / y; }
};

// What a program declares: made like a vector.
template <class V>
struct PackedVector : Packed<V> {
  using Scalar = typename V::Scalar;

  PackedVector() = default;
  constexpr PackedVector(const V& vector) : Packed<V>(vector) {}
  constexpr PackedVector(const Packed<V>& part) : Packed<V>(part) {}
  constexpr PackedVector(std::initializer_list<Scalar> values) : Packed<V>(V(values)) {}
  template <class S, class = std::enable_if_t<std::is_convertible_v<S, Scalar>>>
  constexpr PackedVector(S scalar) : Packed<V>(V(scalar)) {}
};

}  // namespace metalloid::macos

// A compiler that can compute with half precision says so; g++ can in C++ since its version 13.
#if defined(__FLT16_MANT_DIG__) && (defined(__clang__) || __GNUC__ >= 13)
#define METALLOID_SIMD_HAS_HALF 1
#endif

// The names: simd_float4, simd::float4, simd_packed_float4, simd::packed::float4, and vector_float4 from the time
// before those.
#define METALLOID_SIMD_NAME(T, name, N)                                                         \
  typedef metalloid::macos::Vector<T, N> simd_##name##N;                                        \
  typedef metalloid::macos::PackedVector<metalloid::macos::Vector<T, N>> simd_packed_##name##N; \
  typedef simd_##name##N vector_##name##N;                                                      \
  typedef simd_packed_##name##N packed_##name##N;                                               \
  namespace simd {                                                                              \
  typedef ::simd_##name##N name##N;                                                             \
  namespace packed {                                                                            \
  typedef ::simd_packed_##name##N name##N;                                                      \
  }                                                                                             \
  }
#define METALLOID_SIMD_NAMES(T, name) \
  typedef T simd_##name##1;           \
  namespace simd {                    \
  typedef ::simd_##name##1 name##1;   \
  }                                   \
  METALLOID_SIMD_NAME(T, name, 2)     \
  METALLOID_SIMD_NAME(T, name, 3)     \
  METALLOID_SIMD_NAME(T, name, 4)     \
  METALLOID_SIMD_NAME(T, name, 8)     \
  METALLOID_SIMD_NAME(T, name, 16)
METALLOID_SIMD_NAMES(signed char, char)
METALLOID_SIMD_NAMES(unsigned char, uchar)
METALLOID_SIMD_NAMES(short, short)
METALLOID_SIMD_NAMES(unsigned short, ushort)
METALLOID_SIMD_NAMES(int, int)
METALLOID_SIMD_NAMES(unsigned int, uint)
METALLOID_SIMD_NAMES(long, long)
METALLOID_SIMD_NAMES(unsigned long, ulong)
METALLOID_SIMD_NAMES(float, float)
METALLOID_SIMD_NAMES(double, double)
#ifdef METALLOID_SIMD_HAS_HALF
METALLOID_SIMD_NAMES(_Float16, half)
#endif
#undef METALLOID_SIMD_NAMES
#undef METALLOID_SIMD_NAME

typedef bool simd_bool;

static_assert(sizeof(simd_float2) == 8 && alignof(simd_float2) == 8);
static_assert(sizeof(simd_float3) == 16 && alignof(simd_float3) == 16);
static_assert(sizeof(simd_float4) == 16 && alignof(simd_float4) == 16);
static_assert(sizeof(simd_float8) == 32 && alignof(simd_float8) == 16);
static_assert(sizeof(simd_double3) == 32 && alignof(simd_double3) == 16);
static_assert(sizeof(simd_uchar3) == 4 && alignof(simd_uchar3) == 4);
static_assert(sizeof(simd_packed_float4) == 16 && alignof(simd_packed_float4) == 4);
static_assert(std::is_trivial_v<simd_float3> && std::is_standard_layout_v<simd_float3>);
static_assert(std::is_trivial_v<simd_packed_float4> && std::is_standard_layout_v<simd_packed_float4>);
