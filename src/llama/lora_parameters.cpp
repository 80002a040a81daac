#include "llama/lora_parameters.hpp"

#include <cmath>
#include <random>

namespace metalloid::llama {

namespace {

constexpr size_t columns_of_arrays = 1024;
constexpr size_t alignment = 64;  // of matrices in the arrays, in numbers

size_t rounded_up(size_t count, size_t to) {
  return (count + to - 1) / to * to;
}

}  // namespace

Result<LoraParameters> LoraParameters::make(const Weights& weights, Backend& backend, size_t rank,
                                            const std::vector<size_t>& targets, uint64_t seed) {
  LoraParameters made;
  made.rank_ = rank;
  std::vector<float> start;
  std::mt19937_64 generator(seed);
  struct Place {
    size_t layer, target, a, b;
  };
  std::vector<Place> places;
  for (size_t layer = 0; layer < weights.layers.size(); ++layer)
    for (const size_t target : targets) {
      const Tensor& projection = weights.layers[layer].*lora_targets[target].weights;
      const size_t a = start.size(), b = rounded_up(a + rank * projection.columns(), alignment);
      const double most = 1 / std::sqrt(double(projection.columns()));
      for (size_t i = 0; i < rank * projection.columns(); ++i)
        start.push_back(float(most * (double(generator() >> 11) * 0x1p-52 - 1)));
      start.resize(rounded_up(b + rank * projection.rows(), alignment));
      places.push_back({layer, target, a, b});
      made.count_ += rank * (projection.columns() + projection.rows());
    }
  start.resize(rounded_up(start.size(), columns_of_arrays));

  const std::vector<size_t> shape = {start.size() / columns_of_arrays, columns_of_arrays};
  const std::vector<float> zeros(start.size());
  for (Tensor* array : {&made.numbers, &made.gradients, &made.first_moments, &made.second_moments}) {
    *array = backend.tensor(TensorType::f32, shape);
    const Status written = backend.write(*array, array == &made.numbers ? start.data() : zeros.data());
    if (!written) return Error{written.error()};
  }
  made.adapters_.assign(weights.layers.size(), std::vector<TrainedAdapter>(lora_targets.size()));
  for (const Place& place : places) {
    const Tensor& projection = weights.layers[place.layer].*lora_targets[place.target].weights;
    const auto view = [&](const Tensor& array, size_t first, std::vector<size_t> matrix) {
      return array.view(first * sizeof(float), TensorType::f32, std::move(matrix));
    };
    made.adapters_[place.layer][place.target] = {view(made.numbers, place.a, {rank, projection.columns()}),
                                                 view(made.numbers, place.b, {projection.rows(), rank}),
                                                 view(made.gradients, place.a, {rank, projection.columns()}),
                                                 view(made.gradients, place.b, {projection.rows(), rank})};
  }
  return made;
}

Result<LoraAdapter> LoraParameters::read(float alpha, Backend& backend) const {
  LoraAdapter result{alpha, {}};
  for (size_t layer = 0; layer < adapters_.size(); ++layer)
    for (size_t target = 0; target < adapters_[layer].size(); ++target) {
      const TrainedAdapter& adapter = adapters_[layer][target];
      if (!adapter) continue;
      LoraMatrices matrices{layer, target, rank_, std::vector<float>(adapter.a.count()),
                            std::vector<float>(adapter.b.count())};
      for (const auto& [tensor, into] : {std::pair{&adapter.a, &matrices.a}, std::pair{&adapter.b, &matrices.b}})
        if (const Status read = backend.read(*tensor, into->data()); !read) return Error{read.error()};
      result.each.push_back(std::move(matrices));
    }
  return result;
}

}  // namespace metalloid::llama
