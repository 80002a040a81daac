#include "steps_under_way.hpp"

#include <fmt/format.h>

#include <utility>

#include "failure.hpp"

namespace metalloid::training {

// What a place holds is the caller's, and may go when this does.
StepsUnderWay::~StepsUnderWay() {
  for (const auto& commands : commands_)
    if (commands) commands->waitUntilCompleted();
}

size_t StepsUnderWay::free_place() {
  arrive(next_);
  return next_;
}

void StepsUnderWay::send(MTL::CommandBuffer* commands) {
  commands_[next_] = NS::RetainPtr(commands);
  commands->commit();
  next_ = (next_ + 1) % places;
}

void StepsUnderWay::finish() {
  for (size_t i = 0; i < places; ++i) arrive((next_ + i) % places);
}

void StepsUnderWay::arrive(size_t place) {
  const auto commands = std::exchange(commands_[place], {});
  if (!commands) return;
  commands->waitUntilCompleted();
  if (NS::Error* error = commands->error())
    throw Failure(exit_failed, fmt::format("the device failed: {}", error->localizedDescription()->utf8String()));
  consume_(place);
}

}  // namespace metalloid::training
