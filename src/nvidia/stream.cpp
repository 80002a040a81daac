#include "nvidia/stream.hpp"

#include <fmt/format.h>

#include <atomic>

#include "device/look_again.hpp"
#include "nvidia/clock.hpp"
#include "nvidia/memory.hpp"

namespace metalloid::nvidia {

Result<std::shared_ptr<Stream>> Stream::make(std::shared_ptr<Gpu> gpu) {
  auto word = allocate_pinned_memory(gpu, sizeof(uint64_t));
  if (!word) return Error{word.error()};
  std::shared_ptr<Stream> stream(new Stream(gpu, *std::move(word)));
  auto use = gpu->use();
  if (!use) return Error{use.error()};
  stream->generation_ = use->generation();
  cuda::Code code = gpu->driver.create_stream(&stream->handle_, cuda::stream_without_default);
  if (code == cuda::Code::success) code = stream->compare_clocks(*use);
  if (code != cuda::Code::success)
    return Error{fmt::format("{} has no stream for a queue: {}", gpu->properties.name, gpu->driver.describe(code))};
  stream->for_libraries_.handle = stream->handle_;
  return stream;
}

Stream::~Stream() {
  anchor_.reset();  // which gives its event back
  auto use = gpu_->use();
  if (!use || use->generation() != generation_) {
    // Libraries cannot give back what a context took along.
    if (for_libraries_.kept) static_cast<void>(new std::shared_ptr<void>(std::move(for_libraries_.kept)));
    return;
  }
  for_libraries_.kept.reset();
  for (cuda::Event event : events_) use->driver().destroy_event(event);
  if (handle_) use->driver().destroy_stream(handle_);
}

cuda::Code Stream::place_mark(const Gpu::Use& use) {
  return use.driver().write_value(handle_, word_->address, ++placed_, 0);
}

// What the GPU did before the mark is seen by whoever has seen the mark.
uint64_t Stream::passed() const {
  return std::atomic_ref(*static_cast<uint64_t*>(word_->host)).load(std::memory_order_acquire);
}

cuda::Event Stream::record_event(const Gpu::Use& use) {
  cuda::Event event = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!events_.empty()) {
      event = events_.back();
      events_.pop_back();
    }
  }
  if (!event && use.driver().create_event(&event, 0) != cuda::Code::success) return nullptr;
  if (use.driver().record_event(event, handle_) == cuda::Code::success) return event;
  give_back(event);
  return nullptr;
}

void Stream::give_back(cuda::Event event) {
  if (!event) return;
  std::lock_guard lock(mutex_);
  events_.push_back(event);
}

uint64_t Stream::time_of(const Gpu::Use& use, Anchor& anchor, cuda::Event event, uint64_t latest) {
  constexpr uint64_t patience = 1'000'000;
  const uint64_t asked = now();
  float milliseconds = 0;
  cuda::Code code = event ? cuda::Code::not_ready : cuda::Code::invalid_value;
  for (uint64_t turn = 1; code == cuda::Code::not_ready && now() - asked < patience; ++turn) {
    code = use.driver().get_elapsed_time(&milliseconds, anchor.event, event);
    if (code == cuda::Code::not_ready) device::look_again(turn);
  }
  if (code != cuda::Code::success) return latest;
  const uint64_t time = anchor.time + static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6);
  if (time <= latest) return time;
  anchor.time -= time - latest;  // nothing is seen before it happens: the anchor was noted too late
  return latest;
}

cuda::Code Stream::compare_clocks(const Gpu::Use& use) {
  constexpr uint64_t interval = 10'000'000;  // in which clocks drift apart by less than a microsecond
  if (anchor_ && now() - anchor_->time < interval) return cuda::Code::success;
  const auto give_back_event = [this](Anchor* old) {
    give_back(old->event);
    delete old;
  };
  const std::shared_ptr<Anchor> made(new Anchor{record_event(use)}, give_back_event);
  const cuda::Code code = use.driver().synchronize_stream(handle_);
  made->time = now();
  anchor_ = made;
  return code;
}

}  // namespace metalloid::nvidia
