// Bytes with an owner: copied, given back with free(), or with a block. They are always in one piece, so that a map of
// them is the object itself.
#include <cstdlib>
#include <cstring>
#include <new>

#include "foundation/dispatch_queue.hpp"

namespace metalloid::foundation::dispatch {
namespace {

// Stands for free(); nobody calls it.
const char free_marker = 0;

class Data final : public Object {
 public:
  Data(const void* bytes, size_t size, Queue* queue, const void* destructor)
      : bytes(bytes), size(size), queue_(queue), destructor_(destructor) {
    if (queue_) queue_->retain();
  }

  const void* const bytes;
  const size_t size;

 private:
  ~Data() override {
    if (destructor_ == &free_marker)
      std::free(const_cast<void*>(bytes));
    else
      (queue_ ? *queue_ : global_queue()).async({const_cast<void*>(destructor_), call_and_release_block});
    if (queue_) queue_->release();
  }

  Queue* const queue_;
  const void* const destructor_;
};

}  // namespace
}  // namespace metalloid::foundation::dispatch

using namespace metalloid::foundation::dispatch;

const dispatch_block_t _dispatch_data_destructor_free = reinterpret_cast<dispatch_block_t>(&free_marker);

// Null if there is no memory for a copy.
dispatch_data_t dispatch_data_create(const void* buffer, size_t size, dispatch_queue_t queue,
                                     dispatch_block_t destructor) {
  const void* block = reinterpret_cast<const void*>(destructor);
  if (!block) {
    void* copy = std::malloc(size ? size : 1);
    if (!copy) return nullptr;
    if (size) std::memcpy(copy, buffer, size);
    return handle<dispatch_data_t>(new Data(copy, size, nullptr, &free_marker));
  }
  if (block != &free_marker) block = copy_block(block);
  return handle<dispatch_data_t>(new Data(buffer, size, queue ? body<Queue>(queue) : nullptr, block));
}

size_t dispatch_data_get_size(dispatch_data_t data) {
  return data ? body<Data>(data)->size : 0;
}

dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void** buffer, size_t* size) {
  if (buffer) *buffer = data ? body<Data>(data)->bytes : nullptr;
  if (size) *size = dispatch_data_get_size(data);
  dispatch_retain(data);
  return data;
}
