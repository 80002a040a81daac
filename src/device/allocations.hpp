// What is allocated where, by name, while shader validation is on: it tells a pointer that a kernel made up from one
// that the program gave it, and gives reports the buffer's label.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace metalloid::device {

struct Allocation {
  uint64_t address = 0, length = 0;
  std::string label;
};

class Allocations {
 public:
  static Allocations& shared();

  // Allocations may lie on top of each other (heaps), so address and length together say which one is meant.
  void add(Allocation allocation);
  void set_label(uint64_t address, uint64_t length, std::string label);
  void remove(uint64_t address, uint64_t length);

  // The allocation that holds the byte at the address; the innermost, where buffers share a heap.
  std::optional<Allocation> find(uint64_t address) const;
  bool is_empty() const;

 private:
  std::multimap<uint64_t, Allocation>::iterator entry(uint64_t address, uint64_t length);

  mutable std::mutex mutex_;
  std::multimap<uint64_t, Allocation> by_address_;
};

}  // namespace metalloid::device
