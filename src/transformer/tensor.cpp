#include <metalloid/backend.hpp>
#include <numeric>

#include "formats/tensor_size.hpp"
#include "transformer/tensor_memory.hpp"

namespace metalloid {
Tensor::Tensor(std::shared_ptr<transformer::TensorMemory> memory, size_t offset, TensorType type,
               std::vector<size_t> shape)
    : memory_(std::move(memory)), offset_(offset), type_(type), shape_(std::move(shape)) {}

size_t Tensor::count() const {
  return std::accumulate(shape_.begin(), shape_.end(), size_t{1}, std::multiplies{});
}

size_t Tensor::bytes() const {
  return bytes_of(type_, count());
}

size_t Tensor::columns() const {
  return shape_.empty() ? 1 : shape_.back();
}

size_t Tensor::rows() const {
  return shape_.empty() ? 1 : std::accumulate(shape_.begin(), shape_.end() - 1, size_t{1}, std::multiplies{});
}

Tensor Tensor::slice(size_t first, size_t count) const {
  if (!memory_ || shape_.empty() || first > shape_[0] || count > shape_[0] - first) return {};
  std::vector<size_t> shape = shape_;
  shape[0] = first;
  const std::optional<size_t> before = formats::size_in_bytes(type_, shape);
  shape[0] = count;
  return before ? view(*before, type_, std::move(shape)) : Tensor();
}

Tensor Tensor::reshape(std::vector<size_t> shape) const {
  if (!memory_ || formats::size_in_bytes(type_, shape) != bytes()) return {};
  return view(0, type_, std::move(shape));
}

Tensor Tensor::view(size_t offset, TensorType type, std::vector<size_t> shape) const {
  const std::optional<size_t> bytes = formats::size_in_bytes(type, shape);
  if (!memory_ || !bytes) return {};
  const size_t there = memory_->bytes - offset_;
  if (offset > there || *bytes > there - offset) return {};
  return Tensor(memory_, offset_ + offset, type, std::move(shape));
}

}  // namespace metalloid
