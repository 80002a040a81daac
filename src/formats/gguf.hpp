// GGUF files: metadata (numbers, texts, and arrays of them, by name) and tensors, mapped into memory.
#pragma once

#include <cstdint>
#include <metalloid/result.hpp>
#include <metalloid/safetensors.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "library/file.hpp"

namespace metalloid::formats {

class Gguf {
 public:
  // Unsigned and signed integers, floats, truth values, texts, arrays.
  using Value = std::variant<uint64_t, int64_t, double, bool, std::string_view, std::vector<int64_t>,
                             std::vector<double>, std::vector<std::string_view>>;

  // Every tensor's type, shape and place were checked against the file's size.
  static Result<Gguf> open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::shared_ptr<const void>& owner() const { return file_.owner; }  // what keeps the mapping there
  const std::vector<TensorView>& tensors() const { return tensors_; }

  // None: there is no such entry, or it is of another kind.
  std::optional<uint64_t> integer(const std::string& key) const;  // not negative
  std::optional<double> number(const std::string& key) const;
  std::optional<bool> flag(const std::string& key) const;
  std::optional<std::string_view> text(const std::string& key) const;
  const std::vector<int64_t>* integers(const std::string& key) const;
  const std::vector<double>* numbers(const std::string& key) const;
  const std::vector<std::string_view>* texts(const std::string& key) const;

 private:
  friend class GgufReader;

  const Value* find(const std::string& key) const;
  template <class T>
  const T* find_as(const std::string& key) const;

  std::string path_;
  SharedBytes file_;
  std::unordered_map<std::string, Value> metadata_;
  std::vector<TensorView> tensors_;
};

}  // namespace metalloid::formats
