// Memory that tensors lie in. Each backend has a class of its own behind it.
#pragma once

#include <cstddef>

namespace metalloid::transformer {

class TensorMemory {
 public:
  TensorMemory(std::byte* host, size_t bytes) : host(host), bytes(bytes) {}
  virtual ~TensorMemory() = default;
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;

  std::byte* const host;  // null where only the device sees it
  const size_t bytes;
};

}  // namespace metalloid::transformer
