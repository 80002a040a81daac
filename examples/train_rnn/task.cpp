#include "task.hpp"

#include <numeric>

namespace metalloid::train_rnn {

double Slot::loss() const {
  const auto* numbers = static_cast<const float*>(losses->contents());
  return std::accumulate(numbers, numbers + losses->length() / sizeof(float), 0.0);
}

Slot Task::new_slot(MTL::Device* device, size_t input_bytes, size_t target_bytes, size_t predictions) const {
  const auto make = [&](size_t bytes) { return new_buffer(device, bytes, MTL::ResourceStorageModeShared); };
  return {make(input_bytes), make(target_bytes), make(predictions * sizeof(float))};
}

std::mt19937_64 random_of(uint64_t seed, size_t epoch, size_t step) {
  std::seed_seq seeds{uint32_t(seed), uint32_t(seed >> 32), uint32_t(epoch), uint32_t(step)};
  return std::mt19937_64(seeds);
}

}  // namespace metalloid::train_rnn
