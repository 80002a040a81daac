#include "foundation/date.hpp"

#include <cmath>
#include <ctime>
#include <functional>

#include "foundation/string.hpp"

namespace metalloid::foundation {

NS::UInteger DateObject::contentHash() const {
  return std::hash<double>()(time.time_since_epoch().count());
}

bool DateObject::contentEquals(const NS::Object& other) const {
  const auto* date = dynamic_cast<const NS::Date*>(&other);
  return date && time == body(date)->time;
}

NS::String* DateObject::contentDescription() const {
  const auto seconds = static_cast<std::time_t>(std::floor(time.time_since_epoch().count()));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S +0000", &parts);
  return autoreleased_string(text);
}

// Beyond these no calendar is asked, and no clock overflows.
constexpr double distant_future = 64092211200.0;  // 4001-01-01
constexpr double distant_past = -62135769600.0;   // 0001-01-01

static NS::Date* autoreleased_date(double seconds_since_1970) {
  auto* date = new DateObject;
  const double limited = std::fmax(distant_past, std::fmin(distant_future, seconds_since_1970));
  date->time = TimePoint(std::chrono::duration<double>(limited));
  return date->autorelease();
}

}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

Date* Date::dateWithTimeIntervalSinceNow(TimeInterval seconds) {
  const TimePoint now = std::chrono::system_clock::now();
  return autoreleased_date(now.time_since_epoch().count() + seconds);
}

Date* Date::distantFuture() {
  return autoreleased_date(distant_future);
}

}  // namespace NS
