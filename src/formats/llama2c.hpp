// Model files of llama2.c: seven integers, then all weights as float32 in a fixed order. Its tokenizer is a file of its
// own, see tokenizer.hpp.
#pragma once

#include <metalloid/result.hpp>
#include <metalloid/safetensors.hpp>

#include "library/file.hpp"

namespace metalloid::formats {

struct Llama2c {
  size_t dimensions = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, vocabulary = 0, sequence = 0;
  SharedBytes file;
  std::vector<TensorView> tensors;  // named as GGUF names them; without "output.weight" the embedding serves for it

  static Result<Llama2c> open(const std::string& path);
};

}  // namespace metalloid::formats
