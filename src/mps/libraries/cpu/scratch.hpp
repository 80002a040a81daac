// Scratch memory of the thread that runs a primitive, for one purpose. It stays: new memory would take the system
// longer than many a product.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace metalloid::mps::cpu {

enum class Purpose { library, source };

template <Purpose>
void* scratch(size_t bytes) {
  static thread_local std::vector<std::max_align_t> memory;
  memory.resize(std::max(memory.size(), bytes / sizeof(std::max_align_t) + 8));
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<void*>((address + 63) / 64 * 64);
}

}  // namespace metalloid::mps::cpu
