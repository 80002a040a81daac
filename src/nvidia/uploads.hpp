// Data of commands that only the host has, such as the bytes given to setBytes, brought into the GPU's memory: kernels
// would read it over the bus again and again. What the commands of a list need is gathered first and sent in one copy
// ahead of them; the memory is used again when the submission is done.
#pragma once

#include <cstddef>
#include <memory>
#include <metalloid/result.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "nvidia/context.hpp"

namespace metalloid::nvidia {

// Memory of the GPU, and what is to be sent there.
struct UploadChunk {
  std::unique_ptr<device::Memory> memory;
  std::vector<std::byte> bytes;
  size_t used = 0, sent = 0;
};

// Chunks of a queue that are free.
class UploadChunks {
 public:
  explicit UploadChunks(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}

  Result<UploadChunk> take(size_t bytes);
  void give_back(UploadChunk chunk);

 private:
  const std::shared_ptr<Gpu> gpu_;
  std::vector<UploadChunk> spare_;
};

// What one submission has brought.
class Uploads {
 public:
  // Gives the bytes a place on the GPU, the same ones once. Allocates memory, which a thread that uses the GPU's
  // context cannot.
  Status add(UploadChunks& chunks, uint64_t host, size_t bytes);

  std::optional<uint64_t> place_of(uint64_t host) const;

  // All that was added since the last time.
  cuda::Code send(const Gpu::Use& use, cuda::Stream stream);

  void give_back(UploadChunks& chunks);

 private:
  std::vector<UploadChunk> chunks_;
  std::unordered_map<uint64_t, uint64_t> places_;  // by the host's address
};

}  // namespace metalloid::nvidia
