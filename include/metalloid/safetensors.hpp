// Files of named tensors in the safetensors format: models and checkpoints.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <metalloid/result.hpp>
#include <metalloid/tensor_type.hpp>
#include <string>
#include <vector>

namespace metalloid {

// A tensor's description and where its numbers lie, row-major. It owns nothing.
struct TensorView {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<size_t> shape;
  const void* data = nullptr;
  size_t bytes = 0;
};

// A file that is open, mapped into memory. Every tensor's type, shape and place were checked against the file's size.
class Safetensors {
 public:
  static Result<Safetensors> open(const std::string& path);

  const std::vector<TensorView>& tensors() const;         // as they lie in the file
  const TensorView* find(const std::string& name) const;  // null: there is none
  const std::map<std::string, std::string>& metadata() const;

 private:
  struct File;
  explicit Safetensors(std::shared_ptr<const File> file);
  std::shared_ptr<const File> file_;
};

// Writes the file beside its place, makes sure that it reached the disk, and only then takes the old one's name:
// whatever happens, a whole file is there under that name, the old or the new.
Status write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                         const std::map<std::string, std::string>& metadata = {});

}  // namespace metalloid
