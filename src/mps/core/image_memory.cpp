#include "mps/core/image_memory.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace metalloid::mps {
namespace {

// A batch of a thousand small images lies in one slab.
constexpr size_t largest_slab = size_t{128} << 20, most_places = 1024;

class Slab {
 public:
  Slab(MTL::Device* device, MTL::ResourceOptions options, size_t bytes)
      : bytes_(bytes),
        taken_(std::clamp<size_t>(largest_slab / bytes, 1, most_places)),
        buffer_(NS::TransferPtr(device->newBuffer(bytes * taken_.size(), options))) {}

  const NS::SharedPtr<MTL::Buffer>& buffer() const { return buffer_; }
  bool is_empty() const {
    return std::ranges::none_of(taken_, [](bool taken) { return taken; });
  }

  // The first free place, so that those taken in a row lie in a row; false if there is none.
  bool take(size_t& offset) {
    const auto place = std::ranges::find(taken_, false);
    if (place == taken_.end()) return false;
    *place = true;
    offset = size_t(place - taken_.begin()) * bytes_;
    return true;
  }
  void give_back(size_t offset) { taken_[offset / bytes_] = false; }

 private:
  const size_t bytes_;
  std::vector<bool> taken_;
  const NS::SharedPtr<MTL::Buffer> buffer_;
};

class Slabs {
 public:
  ImageMemory take(MTL::Device* device, MTL::ResourceOptions options, size_t bytes) {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Slab>>& slabs = slabs_[{device, options, bytes}];
    ImageMemory memory;
    for (const std::shared_ptr<Slab>& slab : slabs)
      if (slab->take(memory.offset)) return complete(slab, std::move(memory), slabs);
    auto slab = std::make_shared<Slab>(device, options, bytes);
    if (!slab->buffer()) return {};
    slab->take(memory.offset);
    slabs.push_back(slab);
    return complete(slab, std::move(memory), slabs);
  }

 private:
  ImageMemory complete(const std::shared_ptr<Slab>& slab, ImageMemory memory,
                       std::vector<std::shared_ptr<Slab>>& slabs) {
    memory.buffer = slab->buffer();
    memory.place = {slab.get(), [this, slab, &slabs, offset = memory.offset](void*) {
                      std::lock_guard lock(mutex_);
                      slab->give_back(offset);
                      if (slab->is_empty()) std::erase(slabs, slab);
                    }};
    return memory;
  }

  std::mutex mutex_;
  std::map<std::tuple<MTL::Device*, MTL::ResourceOptions, size_t>, std::vector<std::shared_ptr<Slab>>> slabs_;
};

}  // namespace

ImageMemory take_image_memory(MTL::Device* device, MTL::ResourceOptions options, size_t bytes) {
  static Slabs& slabs = *new Slabs;  // images may outlive static objects
  return slabs.take(device, options, bytes);
}

}  // namespace metalloid::mps
