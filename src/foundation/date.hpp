// The point in time behind NS::Date.
#pragma once

#include <Foundation/NSDate.hpp>
#include <chrono>

namespace metalloid::foundation {

using TimePoint = std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<double>>;

class DateObject final : public NS::Date {
 public:
  TimePoint time;

  const char* className() const override { return "NSDate"; }
  NS::UInteger contentHash() const override;
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
};

inline const DateObject* body(const NS::Date* date) {
  return static_cast<const DateObject*>(date);
}

}  // namespace metalloid::foundation
