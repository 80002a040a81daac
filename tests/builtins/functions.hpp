// The functions of the table in docs/builtins.md with their true values and the errors it allows.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include "accuracy.hpp"

namespace metalloid::builtins {

struct Range {
  float low;
  float high;
};

struct Unary {
  const char* name;
  double (*truth)(double);
  double precise_ulp;
  double half_ulp;
  double (*fast_ulp)(double x, double truth);  // what the fast variant may be wrong by
  std::vector<Range> ranges;                   // where to look closely
};

struct Binary {
  const char* name;
  double (*truth)(double, double);
  double precise_ulp;
  double half_ulp;
  double (*fast_ulp)(double x, double y, double truth);
};

// For GoogleTest's messages.
inline void PrintTo(const Unary& function, std::ostream* out) {
  *out << function.name;
}
inline void PrintTo(const Binary& function, std::ostream* out) {
  *out << function.name;
}

// Results that are correctly rounded are half an ulp off at most, and the true value is a double only.
constexpr double rounded = 0.5 + 1e-6;

template <int ulp>
double constant(double, double) {
  return ulp;
}
// An absolute error, in ulp of the true result.
inline double absolute(double error, double truth) {
  const int exponent = std::max(truth == 0 ? f32.smallest_exponent : std::ilogb(truth), f32.smallest_exponent);
  return std::ldexp(error, f32.fraction_bits - exponent);
}
// The fast exponentials' bound; also of those whose exponent is the product with a logarithm.
inline double exponential(double exponent) {
  return 3 + std::floor(std::fabs(2 * exponent));
}

// What the table promises up to pi, and what ours keep to 2^17; nothing beyond. Close to its zeros a sine may have the
// wrong sign.
inline double fast_sine(double x, double truth) {
  if (std::fabs(x) <= M_PI) return absolute(0x1p-13, truth);
  if (std::fabs(x) <= 0x1p17) return absolute(0x1p-20, truth);
  return std::numeric_limits<double>::infinity();
}

inline double fast_tangent(double x, double) {
  return std::fabs(x) <= 0x1p17 ? 6 : std::numeric_limits<double>::infinity();
}

namespace truth {

inline double rsqrt(double x) {
  return 1 / std::sqrt(x);
}
inline double exp10(double x) {
  return std::pow(10.0, x);
}

// sin(pi * (x + quarters / 2)): the angle is taken apart exactly before pi is in it.
inline double sine_of_turns(double x, int quarters) {
  const double period = x - 2 * std::rint(x / 2);
  const double nearest = std::rint(2 * period);
  const double rest = M_PI * (period - nearest / 2);
  const int quadrant = (std::isnan(nearest) ? 0 : static_cast<int>(nearest)) + quarters;
  const double value = quadrant & 1 ? std::cos(rest) : std::sin(rest);
  return quadrant & 2 ? -value : value;
}
inline double sinpi(double x) {
  const double value = sine_of_turns(x, 0);
  return value == 0 ? std::copysign(0.0, x) : value;
}
inline double cospi(double x) {
  return sine_of_turns(x, 1) + 0.0;
}
inline double tanpi(double x) {
  return sinpi(x) / cospi(x);
}
inline double divide(double x, double y) {
  return x / y;
}

inline double powr(double x, double y) {
  const bool undefined = (x == 0 && y == 0) || (std::isinf(x) && y == 0) || (x == 1 && std::isinf(y));
  return x < 0 || std::isnan(x) || std::isnan(y) || undefined ? std::nan("") : std::pow(std::fabs(x), y);
}

}  // namespace truth

inline const std::vector<Unary>& unary_functions() {
  using Double = double (*)(double);
  static const std::vector<Unary> functions{
      {"acos", Double(std::acos), 4, 1, constant<5>, {{-1, 1}, {0.499f, 0.501f}}},
      {"acosh", Double(std::acosh), 4, 1, constant<4>, {{1, 1.01f}, {1, 10}, {4000, 4200}}},
      {"asin", Double(std::asin), 4, 1, constant<5>, {{-1, 1}, {0.499f, 0.51f}}},
      {"asinh", Double(std::asinh), 4, 1, constant<4>, {{-2, 2}, {4000, 4200}}},
      {"atan", Double(std::atan), 5, 1, constant<5>, {{-2, 2}, {0.99f, 1.01f}}},
      {"atanh", Double(std::atanh), 5, 1, constant<5>, {{-1, 1}, {0.99f, 1}}},
      {"cos", Double(std::cos), 4, 1, fast_sine, {{-4, 4}, {-1e5f, 1e5f}, {1e5f, 1e6f}, {1e9f, 1e10f}}},
      {"cosh", Double(std::cosh), 4, 1, constant<4>, {{-2, 2}, {-90, 90}, {88, 89.5f}}},
      {"cospi", truth::cospi, 4, 1, constant<4>, {{-2, 2}, {-1e4f, 1e4f}}},
      {"exp", Double(std::exp), 4, 1, [](double x, double) { return exponential(x); }, {{-2, 2}, {-105, 90}}},
      {"exp10",
       truth::exp10,
       4,
       1,
       [](double x, double) { return exponential(x * std::log2(10)); },
       {{-1, 1}, {-46, 39}}},
      {"exp2", Double(std::exp2), 4, 1, [](double x, double) { return exponential(x); }, {{-2, 2}, {-151, 129}}},
      {"log", Double(std::log), 4, 1, constant<3>, {{0.5f, 2}, {0.99f, 1.01f}}},
      {"log10", Double(std::log10), 4, 1, constant<4>, {{0.5f, 2}, {0.99f, 1.01f}}},
      {"log2", Double(std::log2), 4, 1, constant<2>, {{0.5f, 2}, {0.99f, 1.01f}}},
      {"rsqrt", truth::rsqrt, rounded, rounded, constant<2>, {{0.25f, 4}}},
      {"sin", Double(std::sin), 4, 1, fast_sine, {{-4, 4}, {-1e5f, 1e5f}, {1e5f, 1e6f}, {1e9f, 1e10f}}},
      {"sinh", Double(std::sinh), 4, 1, constant<4>, {{-2, 2}, {-90, 90}, {88, 89.5f}}},
      {"sinpi", truth::sinpi, 4, 1, constant<4>, {{-2, 2}, {-1e4f, 1e4f}}},
      {"sqrt", Double(std::sqrt), rounded, rounded, [](double, double) { return rounded; }, {{0.25f, 4}}},
      {"tan", Double(std::tan), 6, 1, fast_tangent, {{-4, 4}, {-1e5f, 1e5f}, {1e5f, 1e6f}, {1e9f, 1e10f}}},
      {"tanh", Double(std::tanh), 5, 1, constant<5>, {{-1, 1}, {-10, 10}}},
      {"tanpi", truth::tanpi, 6, 1, constant<6>, {{-2, 2}, {-1e4f, 1e4f}}},
  };
  return functions;
}

inline const std::vector<Binary>& binary_functions() {
  using Double = double (*)(double, double);
  // Twice the bound of exp2, for the logarithm's and the product's errors. The rules of powr are those of
  // precise::powr.
  const auto power = [](double x, double y, double) { return 2 * exponential(y * std::log2(std::fabs(x))); };
  static const std::vector<Binary> functions{
      {"atan2", Double(std::atan2), 6, 1, [](double, double, double) { return 6.0; }},
      {"divide", truth::divide, rounded, rounded, [](double, double, double) { return 1.0; }},
      {"pow", Double(std::pow), 16, 1, power},
      {"powr", truth::powr, 16, 1, power},
  };
  return functions;
}

}  // namespace metalloid::builtins
