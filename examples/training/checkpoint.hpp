// Checkpoints: the numbers of a network and its optimiser by name, and how far the training had come, in one
// safetensors file.
#pragma once

#include <filesystem>
#include <metalloid/safetensors.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace metalloid::training {

// Floats of a network, in memory that both host and device see.
struct Tensor {
  std::string name;
  std::vector<size_t> shape;
  float* numbers;

  size_t count() const;
};

// `trainer` is who writes it, and the only one that reads it again. All of these throw a Failure with a sentence that
// says what to do.
void save_checkpoint(const std::filesystem::path& file, const std::string& trainer, const std::vector<Tensor>& tensors,
                     const nlohmann::json& progress);

class Checkpoint {
 public:
  Checkpoint(const std::filesystem::path& file, const std::string& trainer);

  // Into something that has a from_json.
  template <class Value>
  void get_progress(Value& value) const {
    try {
      progress().get_to(value);
    } catch (const nlohmann::json::exception&) {
      refuse("it does not say how far the training had come");
    }
  }
  // Where it fails, the tensors are as they were.
  void get_tensors(const std::vector<Tensor>& tensors) const;

 private:
  nlohmann::json progress() const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path file_;
  Safetensors opened_;
};

}  // namespace metalloid::training
