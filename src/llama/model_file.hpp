// What the three kinds of model files come down to: the model's sizes, its tensors under one set of names (GGUF's), and
// its tokenizer.
#pragma once

#include <map>
#include <memory>
#include <metalloid/llama.hpp>
#include <metalloid/safetensors.hpp>
#include <string>

#include "formats/tokenizer.hpp"

namespace metalloid::llama {

struct ModelFile {
  std::string path;  // for errors
  LlamaConfig config;
  std::map<std::string, TensorView> tensors;
  std::shared_ptr<const void> owner;  // keeps the tensors where they are
  std::shared_ptr<const formats::Tokenizer> tokenizer;

  Error error(const std::string& what) const;
};

// By what is there: a folder, a GGUF file, a safetensors file in such a folder, or else a file of llama2.c.
Result<ModelFile> open_model(const std::string& path, const std::string& tokenizer_path);

// A tokenizer's file, which may be of another kind than the model's.
Result<formats::Tokenizer> read_tokenizer(const std::string& path, size_t vocabulary,
                                          const std::vector<formats::Token>& ends);
Status set_tokenizer(ModelFile& model, Result<formats::Tokenizer> tokenizer);

Result<ModelFile> open_llama2c(const std::string& path, const std::string& tokenizer_path);
Result<ModelFile> open_gguf(const std::string& path, const std::string& tokenizer_path);
Result<ModelFile> open_huggingface(const std::string& folder, const std::string& tokenizer_path);

}  // namespace metalloid::llama
