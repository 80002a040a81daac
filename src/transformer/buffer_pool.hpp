// Memory that is used again and again: a forward pass asks for the same sizes for every token, and asking the system
// each time would cost more than the work.
//
// Sizes are rounded up to a power of two below 1 MiB, and to a multiple of 1 MiB above: memory serves requests of its
// own rounded size only. What is given back is used again at once, though commands may still be reading it: those that
// get it come later in the same queue.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <metalloid/backend.hpp>
#include <mutex>
#include <vector>

#include "transformer/tensor_memory.hpp"

namespace metalloid::transformer {

class BufferPool {
 public:
  using Allocate = std::function<std::unique_ptr<TensorMemory>(size_t bytes)>;  // null: there is none

  explicit BufferPool(Allocate allocate);
  // For another queue: an empty one, of the same kind of memory.
  BufferPool another() const { return BufferPool(allocate_); }

  // At least that many bytes, which come back when the last reference goes; null if there are none.
  std::shared_ptr<TensorMemory> take(size_t bytes);
  PoolStatistics statistics() const;
  void trim();

 private:
  // Outlives the pool for as long as its memory is in use.
  struct Shelves {
    mutable std::mutex mutex;
    std::map<size_t, std::vector<std::unique_ptr<TensorMemory>>> of_size;
    PoolStatistics statistics;

    void give_back(std::unique_ptr<TensorMemory> memory);
    void trim();
  };

  Allocate allocate_;
  std::shared_ptr<Shelves> shelves_ = std::make_shared<Shelves>();
};

}  // namespace metalloid::transformer
