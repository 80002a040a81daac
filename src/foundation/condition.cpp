#include <Foundation/NSLock.hpp>
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "foundation/date.hpp"
#include "foundation/misuse.hpp"

namespace metalloid::foundation {
namespace {

class ConditionObject final : public NS::Condition {
 public:
  std::mutex mutex;
  std::condition_variable changed;

  const char* className() const override { return "NSCondition"; }
};

ConditionObject* body(NS::Condition* condition) {
  return static_cast<ConditionObject*>(condition);
}

// The caller has locked the condition, and has it locked again when this is over.
class Held {
 public:
  explicit Held(std::mutex& mutex) : lock_(mutex, std::adopt_lock) {}
  ~Held() { lock_.release(); }
  std::unique_lock<std::mutex>& lock() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

void Private::lock(Object* lock) {
  if (auto* condition = dynamic_cast<ConditionObject*>(lock)) condition->mutex.lock();
}

void Private::unlock(Object* lock) {
  if (auto* condition = dynamic_cast<ConditionObject*>(lock)) condition->mutex.unlock();
}

Condition* Condition::alloc() {
  return new ConditionObject;
}

Condition* Condition::init() {
  return this;
}

void Condition::wait() {
  ConditionObject* self = body(this);
  if (!self) return;
  Held held(self->mutex);
  self->changed.wait(held.lock());
}

bool Condition::waitUntilDate(Date* limit) {
  ConditionObject* self = body(this);
  if (!self) return false;
  if (!limit) {
    report_misuse("-[NSCondition waitUntilDate:]", "nil argument");
    return false;
  }
  using Clock = std::chrono::system_clock;
  const TimePoint now = Clock::now();
  const double thirty_years = 1e9;  // the clock counts nanoseconds and reaches no further than 2262
  const double seconds = std::clamp((metalloid::foundation::body(limit)->time - now).count(), 0.0, thirty_years);
  const auto time = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Held held(self->mutex);
  return self->changed.wait_until(held.lock(), time) == std::cv_status::no_timeout;
}

void Condition::signal() {
  if (ConditionObject* self = body(this)) self->changed.notify_one();
}

void Condition::broadcast() {
  if (ConditionObject* self = body(this)) self->changed.notify_all();
}

}  // namespace NS
