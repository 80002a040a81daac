// Numbers keep the widest value of their kind: signed, unsigned or floating. Conversions are C's, except that a
// floating value out of the target's range gives the nearest end of it and NaN gives 0, where C leaves it open.
#include <Foundation/NSNumber.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>
#include <variant>

#include "foundation/misuse.hpp"
#include "foundation/object.hpp"
#include "foundation/string.hpp"
#include "foundation/value.hpp"

namespace metalloid::foundation {
namespace {

using Numeric = std::variant<std::int64_t, std::uint64_t, double>;

class NumberObject final : public NS::Number, public Payload {
 public:
  Numeric value;

  template <class Type>
  void assign(Type number, const char* encoding);

  const char* className() const override { return "NSNumber"; }
  NS::UInteger contentHash() const override;
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
};

const NumberObject* body(const NS::Number* number) {
  return static_cast<const NumberObject*>(number);
}
NumberObject* body(NS::Number* number) {
  return static_cast<NumberObject*>(number);
}

template <class Type>
void NumberObject::assign(Type number, const char* encoding) {
  type = encoding;
  bytes.assign(reinterpret_cast<const char*>(&number), sizeof number);
  if constexpr (std::is_floating_point_v<Type>)
    value = static_cast<double>(number);
  else if constexpr (std::is_signed_v<Type>)
    value = static_cast<std::int64_t>(number);
  else
    value = static_cast<std::uint64_t>(number);
}

template <class Target>
Target converted(const NS::Number* number) {
  const NumberObject* self = body(number);
  if (!self) return Target{};
  return std::visit(
      [](auto value) -> Target {
        if constexpr (std::is_same_v<Target, bool>) {
          return value != 0;
        } else if constexpr (std::is_floating_point_v<decltype(value)> && std::is_integral_v<Target>) {
          using Limits = std::numeric_limits<Target>;
          if (std::isnan(value)) return 0;
          if (value <= static_cast<double>(Limits::min())) return Limits::min();
          if (value >= static_cast<double>(Limits::max())) return Limits::max();
          return static_cast<Target>(value);
        } else {
          return static_cast<Target>(value);
        }
      },
      self->value);
}

template <class Type>
NS::ComparisonResult order(Type a, Type b) {
  return a < b ? NS::OrderedAscending : a > b ? NS::OrderedDescending : NS::OrderedSame;
}

constexpr double two_to_63 = 9223372036854775808.0;
constexpr double two_to_64 = 18446744073709551616.0;

NS::ComparisonResult opposite(NS::ComparisonResult result) {
  return static_cast<NS::ComparisonResult>(-result);
}

// By value, exactly: no integer is rounded to a double first. NaN is below everything but itself.
NS::ComparisonResult compare_values(std::int64_t a, std::int64_t b) {
  return order(a, b);
}
NS::ComparisonResult compare_values(std::uint64_t a, std::uint64_t b) {
  return order(a, b);
}
NS::ComparisonResult compare_values(std::int64_t a, std::uint64_t b) {
  return a < 0 ? NS::OrderedAscending : order(static_cast<std::uint64_t>(a), b);
}
NS::ComparisonResult compare_values(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return order(std::isnan(b), std::isnan(a));
  return order(a, b);
}
template <class Integer>
NS::ComparisonResult compare_values(Integer a, double b) {
  constexpr double below = std::is_signed_v<Integer> ? -two_to_63 : 0.0;
  constexpr double above = std::is_signed_v<Integer> ? two_to_63 : two_to_64;
  if (std::isnan(b) || b < below) return NS::OrderedDescending;
  if (b >= above) return NS::OrderedAscending;
  const double whole = std::trunc(b);
  const auto result = order(a, static_cast<Integer>(whole));
  return result == NS::OrderedSame ? order(whole, b) : result;
}
NS::ComparisonResult compare_values(std::uint64_t a, std::int64_t b) {
  return opposite(compare_values(b, a));
}
NS::ComparisonResult compare_values(double a, std::int64_t b) {
  return opposite(compare_values(b, a));
}
NS::ComparisonResult compare_values(double a, std::uint64_t b) {
  return opposite(compare_values(b, a));
}

NS::ComparisonResult compare_values(const Numeric& a, const Numeric& b) {
  return std::visit([](auto x, auto y) { return compare_values(x, y); }, a, b);
}

// Equal numbers of different kinds have the same hash: that of the integer, where there is one.
NS::UInteger NumberObject::contentHash() const {
  const auto* floating = std::get_if<double>(&value);
  if (!floating) return std::visit([](auto number) { return static_cast<NS::UInteger>(number); }, value);
  if (*floating == std::trunc(*floating)) {
    if (*floating >= -two_to_63 && *floating < two_to_63)
      return static_cast<NS::UInteger>(static_cast<std::int64_t>(*floating));
    if (*floating >= 0 && *floating < two_to_64) return static_cast<NS::UInteger>(*floating);
  }
  return std::isnan(*floating) ? 0 : std::hash<double>()(*floating);
}

bool NumberObject::contentEquals(const NS::Object& other) const {
  const auto* number = dynamic_cast<const NS::Number*>(&other);
  return number && compare_values(value, body(number)->value) == NS::OrderedSame;
}

NS::String* NumberObject::contentDescription() const {
  const auto* floating = std::get_if<double>(&value);
  if (!floating) return autoreleased_string(std::visit([](auto number) { return std::to_string(number); }, value));
  char text[40];
  std::snprintf(text, sizeof text, type == "f" ? "%0.7g" : "%0.16g", *floating);
  return autoreleased_string(text);
}

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

// One line per type: number(value), init(value), and the letter of its encoding.
#define NUMBER_OF(Type, encoding)               \
  Number* Number::number(Type value) {          \
    return alloc()->init(value)->autorelease(); \
  }                                             \
  Number* Number::init(Type value) {            \
    body(this)->assign(value, encoding);        \
    return this;                                \
  }

NUMBER_OF(char, "c")
NUMBER_OF(unsigned char, "C")
NUMBER_OF(short, "s")
NUMBER_OF(unsigned short, "S")
NUMBER_OF(int, "i")
NUMBER_OF(unsigned int, "I")
NUMBER_OF(long, "q")
NUMBER_OF(unsigned long, "Q")
NUMBER_OF(long long, "q")
NUMBER_OF(unsigned long long, "Q")
NUMBER_OF(float, "f")
NUMBER_OF(double, "d")
NUMBER_OF(bool, "c")
#undef NUMBER_OF

Number* Number::alloc() {
  return new NumberObject;
}

Number* Number::init(const Coder*) {
  return failed_init(this);
}

char Number::charValue() const {
  return converted<char>(this);
}
unsigned char Number::unsignedCharValue() const {
  return converted<unsigned char>(this);
}
short Number::shortValue() const {
  return converted<short>(this);
}
unsigned short Number::unsignedShortValue() const {
  return converted<unsigned short>(this);
}
int Number::intValue() const {
  return converted<int>(this);
}
unsigned int Number::unsignedIntValue() const {
  return converted<unsigned int>(this);
}
long Number::longValue() const {
  return converted<long>(this);
}
unsigned long Number::unsignedLongValue() const {
  return converted<unsigned long>(this);
}
long long Number::longLongValue() const {
  return converted<long long>(this);
}
unsigned long long Number::unsignedLongLongValue() const {
  return converted<unsigned long long>(this);
}
float Number::floatValue() const {
  return converted<float>(this);
}
double Number::doubleValue() const {
  return converted<double>(this);
}
bool Number::boolValue() const {
  return converted<bool>(this);
}
Integer Number::integerValue() const {
  return converted<Integer>(this);
}
UInteger Number::unsignedIntegerValue() const {
  return converted<UInteger>(this);
}

String* Number::stringValue() const {
  return description();
}

ComparisonResult Number::compare(const Number* other) const {
  if (!body(this)) return OrderedSame;
  if (!other) {
    report_misuse("-[NSNumber compare:]", "nil argument");
    return OrderedDescending;
  }
  return compare_values(body(this)->value, body(other)->value);
}

bool Number::isEqualToNumber(const Number* number) const {
  return isEqual(number);
}

String* Number::descriptionWithLocale(const Object*) const {
  return description();
}

}  // namespace NS
