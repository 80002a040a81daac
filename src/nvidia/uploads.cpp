#include "nvidia/uploads.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "nvidia/memory.hpp"

namespace metalloid::nvidia {

namespace {

constexpr size_t usual_bytes = 64 << 10;  // copies of no more take a short way
constexpr size_t alignment = 256;         // as buffers have

bool is_lost(const UploadChunk& chunk) {
  return static_cast<const VisibleMemory&>(*chunk.memory).is_lost;
}

}  // namespace

Result<UploadChunk> UploadChunks::take(size_t bytes) {
  std::erase_if(spare_, is_lost);
  if (bytes <= usual_bytes && !spare_.empty()) {
    // The first, so that commands that come again find their data at the places of before.
    const auto first =
        std::ranges::min_element(spare_, {}, [](const UploadChunk& chunk) { return chunk.memory->address; });
    UploadChunk chunk = std::move(*first);
    spare_.erase(first);
    return chunk;
  }
  const size_t size = std::max(bytes, usual_bytes);
  auto memory = allocate_memory(gpu_, size, device::Storage::private_to_device);
  if (!memory) return Error{memory.error()};
  return UploadChunk{*std::move(memory), std::vector<std::byte>(size)};
}

void UploadChunks::give_back(UploadChunk chunk) {
  if (chunk.bytes.size() != usual_bytes || is_lost(chunk)) return;
  chunk.used = chunk.sent = 0;
  spare_.push_back(std::move(chunk));
}

Status Uploads::add(UploadChunks& chunks, uint64_t host, size_t bytes) {
  if (places_.contains(host)) return success();
  if (chunks_.empty() || chunks_.back().used + bytes > chunks_.back().bytes.size()) {
    auto taken = chunks.take(bytes);
    if (!taken) return Error{taken.error()};
    chunks_.push_back(*std::move(taken));
  }
  UploadChunk& chunk = chunks_.back();
  std::memcpy(chunk.bytes.data() + chunk.used, reinterpret_cast<const void*>(host), bytes);
  places_[host] = chunk.memory->address + chunk.used;
  chunk.used = std::min(chunk.bytes.size(), (chunk.used + bytes + alignment - 1) / alignment * alignment);
  return success();
}

std::optional<uint64_t> Uploads::place_of(uint64_t host) const {
  const auto place = places_.find(host);
  return place == places_.end() ? std::nullopt : std::optional(place->second);
}

cuda::Code Uploads::send(const Gpu::Use& use, cuda::Stream stream) {
  for (UploadChunk& chunk : chunks_) {
    if (chunk.sent == chunk.used) continue;
    const auto source = reinterpret_cast<cuda::Address>(chunk.bytes.data() + chunk.sent);
    const cuda::Code code =
        use.driver().copy(chunk.memory->address + chunk.sent, source, chunk.used - chunk.sent, stream);
    if (code != cuda::Code::success) return code;
    chunk.sent = chunk.used;
  }
  return cuda::Code::success;
}

void Uploads::give_back(UploadChunks& chunks) {
  for (UploadChunk& chunk : chunks_) chunks.give_back(std::move(chunk));
  chunks_.clear();
  places_.clear();
}

}  // namespace metalloid::nvidia
