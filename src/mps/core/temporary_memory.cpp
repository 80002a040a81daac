#include "mps/core/temporary_memory.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "foundation/object.hpp"
#include "metal/command_buffer.hpp"

namespace metalloid::mps {
namespace {

using Buffers = std::vector<NS::SharedPtr<MTL::Buffer>>;

// Buffers nobody uses, of all devices.
class Pool {
 public:
  NS::SharedPtr<MTL::Buffer> take(MTL::Device* device, size_t bytes) {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(free_.begin(), free_.end(), [&](const NS::SharedPtr<MTL::Buffer>& buffer) {
      return buffer->device() == device && buffer->length() == bytes;
    });
    if (found == free_.end()) return {};
    NS::SharedPtr<MTL::Buffer> taken = std::move(*found);
    *found = std::move(free_.back());
    free_.pop_back();
    kept_bytes_ -= bytes;
    return taken;
  }

  void give(Buffers buffers) {
    std::lock_guard lock(mutex_);
    for (NS::SharedPtr<MTL::Buffer>& buffer : buffers) {
      if (kept_bytes_ + buffer->length() > most_kept_bytes) continue;
      kept_bytes_ += buffer->length();
      free_.push_back(std::move(buffer));
    }
  }

 private:
  static constexpr size_t most_kept_bytes = size_t{1} << 30;

  std::mutex mutex_;
  Buffers free_;
  size_t kept_bytes_ = 0;
};

Pool& pool() {
  static Pool& pool = *new Pool;  // command buffers may outlive static objects
  return pool;
}

class TemporaryMemory;

std::mutex owners_mutex;
std::unordered_map<const MTL::CommandBuffer*, TemporaryMemory*>& owners() {
  static auto& owners = *new std::unordered_map<const MTL::CommandBuffer*, TemporaryMemory*>;
  return owners;
}

// What one command buffer has; the command buffer keeps it, and it goes when the commands are done.
class TemporaryMemory final : public NS::Object {
 public:
  explicit TemporaryMemory(MTL::CommandBuffer* owner) { home_->command_buffer = owner; }
  ~TemporaryMemory() override {
    {
      std::lock_guard lock(owners_mutex);
      const auto entry = owners().find(home_->command_buffer);
      if (entry != owners().end() && entry->second == this) owners().erase(entry);
      home_->command_buffer = nullptr;
    }
    pool().give(std::move(all_));
  }

  TemporaryHomePointer home() const { return home_; }
  void move_to(MTL::CommandBuffer* owner) { home_->command_buffer = owner; }

  MTL::Buffer* take(MTL::Device* device, size_t bytes) {
    bytes = std::bit_ceil(std::max<size_t>(bytes, 256));
    for (MTL::Buffer*& buffer : free_)
      if (buffer->length() == bytes) {
        MTL::Buffer* taken = std::exchange(buffer, free_.back());
        free_.pop_back();
        return taken;
      }
    NS::SharedPtr<MTL::Buffer> buffer = pool().take(device, bytes);
    if (!buffer) buffer = NS::TransferPtr(device->newBuffer(bytes, MTL::ResourceStorageModePrivate));
    if (!buffer) return nullptr;
    return all_.emplace_back(std::move(buffer)).get();
  }

  void give_back(MTL::Buffer* buffer) { free_.push_back(buffer); }

 private:
  const std::shared_ptr<TemporaryHome> home_ = std::make_shared<TemporaryHome>();
  Buffers all_;
  std::vector<MTL::Buffer*> free_;
};

TemporaryMemory* memory_of(MTL::CommandBuffer* command_buffer) {
  std::lock_guard lock(owners_mutex);
  TemporaryMemory*& memory = owners()[command_buffer];
  if (!memory) {
    memory = new TemporaryMemory(command_buffer);
    metal::body(command_buffer)->keep_always(memory);
    memory->release();
  }
  return memory;
}

}  // namespace

MTL::Buffer* temporary_buffer(MTL::CommandBuffer* command_buffer, size_t bytes) {
  return memory_of(command_buffer)->take(command_buffer->device(), bytes);
}

void give_back(MTL::CommandBuffer* command_buffer, MTL::Buffer* buffer) {
  memory_of(command_buffer)->give_back(buffer);
}

void give_back(const TemporaryHome& home, MTL::Buffer* buffer) {
  std::lock_guard lock(owners_mutex);
  if (const auto entry = owners().find(home.command_buffer); entry != owners().end()) entry->second->give_back(buffer);
}

void move_temporary_memory(MTL::CommandBuffer* from, MTL::CommandBuffer* to) {
  std::lock_guard lock(owners_mutex);
  auto entry = owners().extract(from);
  if (entry.empty()) return;
  TemporaryMemory* memory = entry.mapped();
  memory->move_to(to);
  metal::body(to)->keep_always(memory);
  entry.key() = to;
  owners().insert(std::move(entry));
}

TemporaryHomePointer temporary_home(MTL::CommandBuffer* command_buffer) {
  return memory_of(command_buffer)->home();
}

Status check_home(const TemporaryHomePointer& home, NS::UInteger read_count, const MTL::CommandBuffer* command_buffer) {
  if (!home) return success();
  if (home->command_buffer != command_buffer) return Error{"is temporary, and of another command buffer"};
  if (read_count == 0) return Error{"is temporary, and has been read as often as its readCount allowed"};
  return success();
}

}  // namespace metalloid::mps
