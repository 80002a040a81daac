// When the GPU was at a submission, as events say. The driver is asked for their times when somebody wants to know.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "nvidia/stream.hpp"

namespace metalloid::nvidia {

class RecordedSpan {
 public:
  // What the host knows by itself.
  struct Known {
    uint64_t started = 0;         // when it gave the GPU the first of it, if that had nothing else to do; else 0
    uint64_t last_timestamp = 0;  // of the submission's own
    uint64_t completed = 0;       // when it learnt of that
  };

  // `started` is null if the host knows that.

  RecordedSpan(std::shared_ptr<Gpu> gpu, std::shared_ptr<Stream> stream, cuda::Event started, cuda::Event ended,
               Known known)
      : gpu_(std::move(gpu)),
        stream_(std::move(stream)),
        anchor_(stream_->anchor()),
        started_(started),
        ended_(ended),
        known_(known) {}
  RecordedSpan(const RecordedSpan&) = delete;
  RecordedSpan& operator=(const RecordedSpan&) = delete;
  ~RecordedSpan();

  device::Span get() const;

 private:
  const std::shared_ptr<Gpu> gpu_;
  const std::shared_ptr<Stream> stream_;
  const std::shared_ptr<Stream::Anchor> anchor_;
  const cuda::Event started_, ended_;
  const Known known_;
};

}  // namespace metalloid::nvidia
