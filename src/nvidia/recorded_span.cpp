#include "nvidia/recorded_span.hpp"

#include <algorithm>

namespace metalloid::nvidia {

RecordedSpan::~RecordedSpan() {
  stream_->give_back(started_);
  stream_->give_back(ended_);
}

// With the context that they lived in, events are gone.
device::Span RecordedSpan::get() const {
  device::Span span{known_.started ? known_.started : known_.completed, known_.completed};
  const auto use = gpu_->use();
  if (!use || use->generation() != stream_->generation()) return span;
  span.ended = std::max(Stream::time_of(*use, *anchor_, ended_, known_.completed), known_.last_timestamp);
  if (started_) span.started = Stream::time_of(*use, *anchor_, started_, span.ended);
  span.ended = std::max(span.ended, span.started);
  return span;
}

}  // namespace metalloid::nvidia
