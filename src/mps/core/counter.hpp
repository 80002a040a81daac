// A count that several threads may take from. A copy of its kernel goes on from the same place.
#pragma once

#include <atomic>
#include <cstdint>

namespace metalloid::mps {

class Counter {
 public:
  Counter() = default;
  Counter(const Counter& other) : count_(other.count_.load()) {}
  Counter& operator=(const Counter& other) {
    count_ = other.count_.load();
    return *this;
  }

  uint64_t count() const { return count_; }
  void set(uint64_t count) { count_ = count; }
  // The count before.
  uint64_t take(uint64_t more) { return count_.fetch_add(more); }

 private:
  std::atomic<uint64_t> count_ = 0;
};

}  // namespace metalloid::mps
