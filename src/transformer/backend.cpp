// Backends, and tensors on them. What is computed is in backend_operations.cpp.
#include <cmath>
#include <cstring>
#include <metalloid/backend.hpp>

#include "formats/tensor_size.hpp"
#include "transformer/check.hpp"
#include "transformer/operations.hpp"

namespace metalloid {

using namespace transformer;

Result<std::unique_ptr<Backend>> init_backend(BackendPreference preference) {
  if (preference != BackendPreference::Cpu) {
    Result<std::unique_ptr<Operations>> metal = metal_operations();
    if (metal) return std::make_unique<Backend>(std::move(*metal));
    if (preference == BackendPreference::Metal) return Error{metal.error()};
  }
  return std::make_unique<Backend>(cpu_operations());
}

Backend::Backend(std::unique_ptr<Operations> operations) : operations_(std::move(operations)) {}
Backend::~Backend() = default;

std::string Backend::name() const {
  return operations_->name();
}
std::string Backend::device_name() const {
  return operations_->device_name();
}
bool Backend::is_available() const {
  return operations_->is_available();
}

// The bytes of a tensor that is to be made.
static Result<size_t> bytes_needed(const char* call, TensorType type, const std::vector<size_t>& shape) {
  if (const std::optional<size_t> bytes = formats::size_in_bytes(type, shape)) return *bytes;
  return Error{
      fmt::format("{}: there is no tensor of shape {} and type {}: it is too large, or its rows are no whole "
                  "blocks of {} numbers",
                  call, text_of(shape), name_of(type), formats::numbers_per_unit(type))};
}

Result<Tensor> Backend::wrap(TensorType type, std::vector<size_t> shape, const void* data,
                             std::shared_ptr<const void> owner) {
  const Result<size_t> bytes = bytes_needed("wrap", type, shape);
  if (!bytes) return Error{bytes.error()};
  if (!data || *bytes == 0)
    return Error{fmt::format("wrap: there are no numbers at {} for shape {}", data, text_of(shape))};
  std::shared_ptr<TensorMemory> memory = operations_->wrap(data, *bytes, std::move(owner));
  if (!memory) return Error{fmt::format("wrap: {} cannot use the {} bytes at {}", device_name(), *bytes, data)};
  const size_t offset = size_t(static_cast<const std::byte*>(data) - memory->host);
  return Tensor(std::move(memory), offset, type, std::move(shape));
}

Result<Tensor> Backend::resident(const Tensor& tensor) {
  if (!tensor) return Error{"resident: there is no tensor"};
  if (operations_->has_unified_memory() && is_aligned(tensor)) return tensor;
  if (!tensor.memory()->host) return tensor;
  std::shared_ptr<TensorMemory> memory = operations_->take(tensor.bytes());
  if (!memory) return Error{fmt::format("resident: {} has no memory for {} bytes", device_name(), tensor.bytes())};
  Tensor copy(std::move(memory), 0, tensor.type(), tensor.shape());
  if (const Status written = operations_->write(copy, tensor.memory()->host + tensor.offset()); !written)
    return Error{written.error()};
  return copy;
}

Tensor Backend::tensor(TensorType type, std::vector<size_t> shape) {
  const Result<size_t> bytes = bytes_needed("tensor", type, shape);
  std::shared_ptr<TensorMemory> memory = bytes ? operations_->take(*bytes) : nullptr;
  if (memory) return Tensor(std::move(memory), 0, type, std::move(shape));
  if (error_.empty())
    error_ = bytes ? fmt::format("tensor: {} has no memory for {} bytes", device_name(), *bytes) : bytes.error();
  return {};
}

PoolStatistics Backend::pool_statistics() const {
  return operations_->pool_statistics();
}
void Backend::trim_pool() {
  operations_->trim_pool();
}

void Backend::commit() {
  operations_->commit();
}

Status Backend::finish() {
  const Status done = operations_->finish();
  if (error_.empty()) return done;
  return Error{std::exchange(error_, {})};
}

Status Backend::read(const Tensor& tensor, void* destination) {
  Check check(error_, "read");
  check.require(bool(tensor), "there is no tensor");
  if (!check) return finish();
  return operations_->read(tensor, destination);
}

std::function<Status(void*)> Backend::read_later(const Tensor& tensor) {
  Check check(error_, "read_later");
  check.require(bool(tensor), "there is no tensor");
  if (!check) return [this](void*) { return finish(); };
  return operations_->read_later(tensor);
}

bool Backend::is_asynchronous() const {
  return operations_->is_asynchronous();
}

Status Backend::write(const Tensor& tensor, const void* source) {
  Check check(error_, "write");
  check.require(bool(tensor), "there is no tensor");
  if (!check) return finish();
  return operations_->write(tensor, source);
}

void* Backend::contents(const Tensor& tensor) {
  if (!tensor || !tensor.memory()->host) return nullptr;
  if (const Status done = operations_->finish(); !done && error_.empty()) error_ = done.error();
  return tensor.memory()->host + tensor.offset();
}

std::vector<float> rope_frequencies(size_t dimensions, double base) {
  std::vector<float> frequencies(dimensions / 2);
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = float(std::pow(base, -2.0 * double(i) / double(dimensions)));
  return frequencies;
}

}  // namespace metalloid
