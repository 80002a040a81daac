#include "checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <functional>
#include <metalloid/safetensors.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

#include "failure.hpp"

namespace metalloid::training {

namespace {

constexpr const char *trainer_key = "trainer", *progress_key = "progress";

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw Failure(
      exit_file_error,
      fmt::format("'{}' is no checkpoint that training can go on from: {}; leave --resume away to begin anew, "
                  "or name another --output",
                  file.string(), why));
}

Safetensors open(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file))
    throw Failure(exit_file_error,
                  fmt::format("there is no '{}' to resume from: leave --resume away to begin anew", file.string()));
  Result<Safetensors> opened = Safetensors::open(file.string());
  if (!opened) refuse(file, opened.error());
  return *opened;
}

}  // namespace

size_t Tensor::count() const {
  return std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
}

void save_checkpoint(const std::filesystem::path& file, const std::string& trainer, const std::vector<Tensor>& tensors,
                     const nlohmann::json& progress) {
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors)
    views.push_back({tensor.name, TensorType::f32, tensor.shape, tensor.numbers, tensor.count() * sizeof(float)});
  const Status written =
      write_safetensors(file.string(), views, {{trainer_key, trainer}, {progress_key, progress.dump()}});
  if (!written) throw Failure(exit_file_error, fmt::format("the checkpoint is not saved: {}", written.error()));
}

Checkpoint::Checkpoint(const std::filesystem::path& file, const std::string& trainer)
    : file_(file), opened_(open(file)) {
  const auto written_by = opened_.metadata().find(trainer_key);
  if (written_by == opened_.metadata().end()) refuse("another program wrote it");
  if (written_by->second != trainer) refuse(fmt::format("it is of {}, not of {}", written_by->second, trainer));
}

void Checkpoint::get_tensors(const std::vector<Tensor>& tensors) const {
  for (const Tensor& tensor : tensors) {
    const TensorView* found = opened_.find(tensor.name);
    if (!found) refuse(fmt::format("the tensor {} is missing", tensor.name));
    if (found->type != TensorType::f32 || found->shape != tensor.shape)
      refuse(fmt::format("the tensor {} is {} [{}], and {} [{}] is needed", tensor.name, name_of(found->type),
                         fmt::join(found->shape, ", "), name_of(TensorType::f32), fmt::join(tensor.shape, ", ")));
  }
  for (const Tensor& tensor : tensors)
    std::memcpy(tensor.numbers, opened_.find(tensor.name)->data, tensor.count() * sizeof(float));
}

nlohmann::json Checkpoint::progress() const {
  const auto found = opened_.metadata().find(progress_key);
  return found == opened_.metadata().end() ? nlohmann::json() : nlohmann::json::parse(found->second);
}

void Checkpoint::refuse(const std::string& why) const {
  training::refuse(file_, why);
}

}  // namespace metalloid::training
