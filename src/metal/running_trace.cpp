#include "metal/running_trace.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "foundation/string.hpp"
#include "metal/command_buffer.hpp"
#include "metal/device.hpp"
#include "metal/queue.hpp"

namespace metalloid::metal {

Trace::Trace(std::unique_ptr<TraceDocument> document, TraceSubject subject)
    : document_(std::move(document)), subject_(subject), origin_(now()), recording_(subject.from_the_start) {}

bool Trace::wants(const CommandBufferObject& command_buffer) const {
  if (!recording_) return false;
  if (subject_.queue) return command_buffer.queue.get() == subject_.queue;
  return !subject_.device || command_buffer.queue->device == subject_.device;
}

uint64_t Trace::now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

std::string Trace::time(uint64_t nanoseconds) const {
  return microseconds(nanoseconds > origin_ ? nanoseconds - origin_ : 0);
}

unsigned Trace::process(const DeviceObject& device) {
  std::lock_guard lock(mutex_);
  const auto [entry, is_new] = processes_.try_emplace(&device, host_process + 1 + processes_.size());
  if (is_new)
    append(fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}},)"
                       "\n",
                       entry->second, json_string(device.info().name)));
  return entry->second;
}

unsigned Trace::track(const CommandQueueObject& queue) {
  const unsigned device = process(*queue.device);
  std::lock_guard lock(mutex_);
  const std::string label(foundation::text_of(queue.label.get()));
  constexpr unsigned first = 1000;  // above those of threads: numbers differ across processes
  const auto [entry, is_new] = queues_.try_emplace({&queue, label}, first + queues_.size());
  if (is_new) name_track(device, entry->second, label.empty() ? fmt::format("queue {}", queues_.size()) : label);
  return entry->second;
}

unsigned Trace::track_of_this_thread() {
  std::lock_guard lock(mutex_);
  const auto [entry, is_new] = threads_.try_emplace(std::this_thread::get_id(), 1 + threads_.size());
  if (is_new) name_track(host_process, entry->second, fmt::format("thread {}", entry->second));
  return entry->second;
}

void Trace::name_track(unsigned process, unsigned track, std::string_view name) {
  append(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}},)"
                     "\n",
                     process, track, json_string(name)));
}

uint64_t Trace::next_number() {
  std::lock_guard lock(mutex_);
  return ++numbers_;
}

void Trace::enter() {
  std::lock_guard lock(mutex_);
  ++inside_;
}

void Trace::leave() {
  std::lock_guard lock(mutex_);
  if (--inside_ == 0 && stopped_) finish();
}

void Trace::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  if (inside_ == 0) finish();
}

void Trace::stop_now() {
  std::lock_guard lock(mutex_);
  finish();
}

void Trace::wait_until_finished(std::chrono::seconds patience) {
  std::unique_lock lock(mutex_);
  finished_changed_.wait_for(lock, patience, [&] { return finished_; });
}

void Trace::finish() {
  if (finished_) return;
  if (const Status written = document_->finish(); !written)
    std::fprintf(stderr, "metalloid: %s\n", written.error().c_str());
  finished_ = true;
  finished_changed_.notify_all();
}

}  // namespace metalloid::metal
