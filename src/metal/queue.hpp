// The object behind MTL::CommandQueue: gives out command buffers, at most so many at a time, and hands those that were
// committed to the device in the order in which they were enqueued.
#pragma once

#include <Metal/MTLCommandQueue.hpp>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.hpp"
#include "foundation/object.hpp"
#include "metal/command_buffer.hpp"

namespace MTL {
class LogState;
class ResidencySet;
}  // namespace MTL

namespace metalloid::metal {

class DeviceObject;

class CommandQueueObject final : public MTL::CommandQueue {
 public:
  DeviceObject* const device;
  const size_t max_command_buffers;
  const NS::SharedPtr<MTL::LogState> log_state;
  const bool checked;  // by the debug layer
  NS::SharedPtr<NS::String> label;

  CommandQueueObject(DeviceObject& device, size_t max_command_buffers, NS::SharedPtr<MTL::LogState> log_state);
  ~CommandQueueObject() override;

  // Waits while too many are not done; but a handler, for which all the others wait, gets one at once.
  CommandBufferObject* new_command_buffer(CommandBufferObject::Options options);

  void enqueue(CommandBufferObject& command_buffer);
  void commit(CommandBufferObject& command_buffer);  // which was enqueued
  void forget(CommandBufferObject& command_buffer);  // it goes without having been committed

  // Waits for the device, for some microseconds.
  void look_out(const std::function<bool()>& is_reached) { queue_->look_out(is_reached); }
  // The device may use the calling thread until then.
  void lend_thread(const std::function<bool()>& is_reached) { queue_->lend_thread(is_reached); }

  // A child of fork() has the queues of its parent, but not their threads: nothing runs there any more.
  bool is_from_before_fork() const;

  // A command buffer is done with its list.
  void give_back(device::CommandList list, KeptObjects kept);

  void add_residency_set(const MTL::ResidencySet* set);
  void remove_residency_set(const MTL::ResidencySet* set);

  const char* className() const override { return "MTLCommandQueue"; }

 private:
  struct Recording {
    device::CommandList list;
    KeptObjects kept;
  };

  void submit_committed();
  std::unique_ptr<device::Submission> next_to_submit();  // null if the next one was not committed

  const unsigned forks_;  // that had led to this process when the queue was made
  std::unique_ptr<device::Queue> queue_;
  std::mutex submitting_;  // by one thread at a time, so that the order is kept
  std::mutex mutex_;       // guards what is below; never held while the device is called, which may call back
  std::condition_variable freed_;
  size_t in_use_ = 0;
  std::deque<CommandBufferObject*> order_;  // enqueued and not yet submitted
  std::vector<Recording> spare_;
  std::vector<NS::SharedPtr<MTL::ResidencySet>> residency_sets_;
};

// While a handler of a command buffer runs on this thread.
bool inside_handler();

inline CommandQueueObject* body(MTL::CommandQueue* queue) {
  return static_cast<CommandQueueObject*>(queue);
}
inline const CommandQueueObject* body(const MTL::CommandQueue* queue) {
  return static_cast<const CommandQueueObject*>(queue);
}

}  // namespace metalloid::metal
