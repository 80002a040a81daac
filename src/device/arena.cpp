#include <algorithm>
#include <cstring>

#include "device/commands.hpp"

namespace metalloid::device {

void* Arena::allocate(size_t bytes, size_t alignment) {
  for (;; ++chunk_, used_ = 0) {
    if (chunk_ == chunks_.size()) {
      constexpr size_t usual_size = 64 << 10;
      size_t size = std::max(usual_size, bytes + alignment);
      chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    }
    Chunk& chunk = chunks_[chunk_];
    auto start = reinterpret_cast<uintptr_t>(chunk.bytes.get());
    size_t offset = ((start + used_ + alignment - 1) & ~(alignment - 1)) - start;  // alignments are powers of two
    if (offset + bytes <= chunk.size) {
      used_ = offset + bytes;
      return chunk.bytes.get() + offset;
    }
  }
}

const char* Arena::text(std::string_view text) {
  char* copy = static_cast<char*>(allocate(text.size() + 1, 1));
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

void Arena::reset() {
  chunk_ = used_ = 0;
}

}  // namespace metalloid::device
