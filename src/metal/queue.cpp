#include "metal/queue.hpp"

#include <pthread.h>

#include <Metal/MTLLogState.hpp>
#include <Metal/MTLResidencySet.hpp>
#include <algorithm>
#include <thread>

#include "metal/device.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

// Lists that wait for the next command buffer; more would only keep memory from those who need it.
constexpr size_t max_spare_lists = 8;

constexpr size_t usual_command_buffers = 64;

// Counts the calls of fork() that led to this process.
static unsigned forks() {
  static unsigned count = 0;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++count; });
  static_cast<void>(registered);
  return count;
}

CommandQueueObject::CommandQueueObject(DeviceObject& device, size_t max_command_buffers,
                                       NS::SharedPtr<MTL::LogState> log_state)
    : device(&device),
      max_command_buffers(std::max<size_t>(max_command_buffers, 1)),
      log_state(std::move(log_state)),
      checked(debug_layer_enabled()),
      forks_(forks()),
      queue_(device.device->make_queue()) {}

// Every command buffer retains its queue until it is done, so the last one to go may take the queue along on the
// device's own thread, which cannot wait for itself. After fork() there is no thread to wait for.
CommandQueueObject::~CommandQueueObject() {
  if (is_from_before_fork())
    static_cast<void>(queue_.release());
  else if (inside_handler())
    std::thread([queue = std::move(queue_)]() mutable { queue.reset(); }).detach();
}

bool CommandQueueObject::is_from_before_fork() const {
  return forks_ != forks();
}

CommandBufferObject* CommandQueueObject::new_command_buffer(CommandBufferObject::Options options) {
  Recording recording;
  {
    std::unique_lock lock(mutex_);
    if (!inside_handler() && !is_from_before_fork()) freed_.wait(lock, [&] { return in_use_ < max_command_buffers; });
    ++in_use_;
    if (!spare_.empty()) {
      recording = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (!options.log_state) options.log_state = log_state;
  return new CommandBufferObject(*this, std::move(options), std::move(recording.list), std::move(recording.kept));
}

void CommandQueueObject::enqueue(CommandBufferObject& command_buffer) {
  std::lock_guard lock(mutex_);
  order_.push_back(&command_buffer);
}

void CommandQueueObject::commit(CommandBufferObject& command_buffer) {
  {
    std::lock_guard lock(mutex_);
    command_buffer.mark_committed();
  }
  submit_committed();
}

void CommandQueueObject::forget(CommandBufferObject& command_buffer) {
  {
    std::lock_guard lock(mutex_);
    std::erase(order_, &command_buffer);
  }
  submit_committed();
}

void CommandQueueObject::submit_committed() {
  std::lock_guard lock(submitting_);
  while (auto submission = next_to_submit()) queue_->submit(std::move(submission));
}

std::unique_ptr<device::Submission> CommandQueueObject::next_to_submit() {
  std::lock_guard lock(mutex_);
  if (order_.empty() || !order_.front()->is_committed()) return nullptr;
  std::unique_ptr<device::Submission> submission = order_.front()->take_submission();
  order_.pop_front();
  return submission;
}

void CommandQueueObject::give_back(device::CommandList list, KeptObjects kept) {
  list.commands.clear();
  list.kept.clear();
  list.arena.reset();
  kept.release_all();
  {
    std::lock_guard lock(mutex_);
    --in_use_;
    if (spare_.size() < max_spare_lists) spare_.push_back({std::move(list), std::move(kept)});
  }
  freed_.notify_one();
}

// Memory is always resident here; a queue's part in a residency set is to keep it.
void CommandQueueObject::add_residency_set(const MTL::ResidencySet* set) {
  if (!set) return;
  std::lock_guard lock(mutex_);
  auto same = [&](const auto& present) { return present.get() == set; };
  if (std::ranges::none_of(residency_sets_, same)) residency_sets_.push_back(foundation::retained(set));
}

void CommandQueueObject::remove_residency_set(const MTL::ResidencySet* set) {
  std::lock_guard lock(mutex_);
  std::erase_if(residency_sets_, [&](const auto& present) { return present.get() == set; });
}

struct CommandQueueProperties {
  static constexpr const char* class_name = "MTLCommandQueueDescriptor";
  NS::UInteger maxCommandBufferCount = usual_command_buffers;
  NS::SharedPtr<MTL::LogState> logState;
};
PROPERTIES(CommandQueueDescriptor, CommandQueueProperties)

static MTL::CommandBuffer* autoreleased_command_buffer(MTL::CommandQueue* queue, CommandBufferObject::Options options) {
  CommandQueueObject* self = body(queue);
  return self ? foundation::autoreleased(self->new_command_buffer(std::move(options))) : nullptr;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

CommandQueue* Device::newCommandQueue() {
  return newCommandQueue(usual_command_buffers);
}

CommandQueue* Device::newCommandQueue(NS::UInteger max_command_buffers) {
  DeviceObject* self = body(this);
  return self ? new CommandQueueObject(*self, max_command_buffers, nullptr) : nullptr;
}

CommandQueue* Device::newCommandQueue(const CommandQueueDescriptor* descriptor) {
  DeviceObject* self = body(this);
  const auto* asked = properties(descriptor);
  if (!self || !asked) return newCommandQueue();
  return new CommandQueueObject(*self, asked->maxCommandBufferCount, asked->logState);
}

ALLOC(CommandQueueDescriptor)
PROPERTY(CommandQueueDescriptor, maxCommandBufferCount, setMaxCommandBufferCount)
PROPERTY(CommandQueueDescriptor, logState, setLogState)

Device* CommandQueue::device() const {
  const CommandQueueObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* CommandQueue::label() const {
  const CommandQueueObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void CommandQueue::setLabel(const NS::String* label) {
  if (CommandQueueObject* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

CommandBuffer* CommandQueue::commandBuffer() {
  return autoreleased_command_buffer(this, {});
}

CommandBuffer* CommandQueue::commandBufferWithUnretainedReferences() {
  CommandBufferObject::Options unretained;
  unretained.retained_references = false;
  return autoreleased_command_buffer(this, unretained);
}

CommandBuffer* CommandQueue::commandBuffer(const CommandBufferDescriptor* descriptor) {
  if (!descriptor) return commandBuffer();
  return autoreleased_command_buffer(this, {.retained_references = descriptor->retainedReferences(),
                                            .errors = descriptor->errorOptions(),
                                            .log_state = NS::RetainPtr(descriptor->logState())});
}

void CommandQueue::addResidencySet(const ResidencySet* set) {
  if (CommandQueueObject* self = body(this)) self->add_residency_set(set);
}

void CommandQueue::addResidencySets(const ResidencySet* const sets[], NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) addResidencySet(sets[i]);
}

void CommandQueue::removeResidencySet(const ResidencySet* set) {
  if (CommandQueueObject* self = body(this)) self->remove_residency_set(set);
}

void CommandQueue::removeResidencySets(const ResidencySet* const sets[], NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) removeResidencySet(sets[i]);
}

// It marks a frame for Xcode's capture button; captures here begin and end with the capture manager.
void CommandQueue::insertDebugCaptureBoundary() {}

}  // namespace MTL
