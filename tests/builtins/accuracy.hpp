// How far a result of a float or half function is from the true one, computed in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace metalloid::builtins {

// A format with so many bits behind the point, and exponents in that range.
struct Format {
  int fraction_bits;
  int smallest_exponent;
  int largest_exponent;
};
constexpr Format f32{23, -126, 127};
constexpr Format f16{10, -14, 15};

inline double value_of(float x) {
  return x;
}
inline double value_of(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const double size = exponent == 31  ? (fraction ? std::nan("") : std::numeric_limits<double>::infinity())
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return half >> 15 ? -size : size;
}

// The error of a result in ulp: of the distance between the two numbers of the format around the true result.
// Infinity where no distance tells how wrong it is: a NaN, an infinity or the sign of a zero missed.
inline double error_in_ulp(double result, double truth, Format format) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(truth)) return std::isnan(result) ? 0 : wrong;
  if (std::isnan(result)) return wrong;
  if (truth == 0) return result == 0 && std::signbit(result) == std::signbit(truth) ? 0 : wrong;
  if (std::isinf(truth)) return result == truth ? 0 : wrong;
  // Beyond the largest number, infinity is the next one.
  const double limit = std::ldexp(1, format.largest_exponent + 1);
  const auto limited = [limit](double x) { return std::fmin(std::fmax(x, -limit), limit); };
  int exponent = std::ilogb(limited(truth));
  if (exponent < format.smallest_exponent) exponent = format.smallest_exponent;
  if (exponent > format.largest_exponent) exponent = format.largest_exponent;
  return std::ldexp(std::fabs(limited(result) - limited(truth)), format.fraction_bits - exponent);
}

// The largest error of many results in relation to what is allowed for each, and where it was.
struct Worst {
  double of_allowed = 0;
  double ulp = 0;
  std::string where;

  void add(double result, double truth, Format format, double allowed, double x, double y = 0) {
    const double error = error_in_ulp(result, truth, format);
    if (!(error > of_allowed * allowed)) return;
    of_allowed = error / allowed;
    ulp = error;
    char text[160];
    std::snprintf(text, sizeof text, "(%.9g, %.9g) = %.9g, not %.17g", x, y, result, truth);
    where = text;
  }
};

}  // namespace metalloid::builtins
