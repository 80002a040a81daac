#include "llama/model_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "formats/gguf.hpp"
#include "formats/llama2c.hpp"
#include "library/file.hpp"
#include "llama/rope_scaling.hpp"

namespace metalloid::llama {

namespace fs = std::filesystem;

Error ModelFile::error(const std::string& what) const {
  return Error{fmt::format("cannot use '{}': {}", path, what)};
}

Status set_tokenizer(ModelFile& model, Result<formats::Tokenizer> tokenizer) {
  if (!tokenizer) return Error{tokenizer.error()};
  if (tokenizer->size() > model.config.vocabulary)
    return model.error(
        fmt::format("its tokenizer has {} tokens, but the model only {}", tokenizer->size(), model.config.vocabulary));
  model.tokenizer = std::make_shared<formats::Tokenizer>(std::move(*tokenizer));
  return success();
}

Result<formats::Tokenizer> read_tokenizer(const std::string& path, size_t vocabulary,
                                          const std::vector<formats::Token>& ends) {
  const fs::path extension = fs::path(path).extension();
  if (extension == ".json") return formats::read_huggingface_tokenizer(path, ends);
  if (extension != ".gguf") return formats::read_llama2c_tokenizer(path, vocabulary);
  const auto gguf = formats::Gguf::open(path);
  if (!gguf) return Error{gguf.error()};
  return formats::read_gguf_tokenizer(*gguf);
}

namespace {

Status check(const ModelFile& model) {
  const LlamaConfig& config = model.config;
  const std::pair<const char*, size_t> sizes[] = {
      {"dimensions", config.dimensions}, {"hidden dimensions", config.hidden}, {"layers", config.layers},
      {"heads", config.heads},           {"key/value heads", config.kv_heads}, {"numbers per head", config.head_size},
      {"tokens", config.vocabulary},     {"positions", config.context}};
  constexpr size_t most = 1u << 30;
  for (const auto& [name, size] : sizes)
    if (size == 0 || size > most) return model.error(fmt::format("it has {} {}", size, name));
  if (config.heads % config.kv_heads != 0)
    return model.error(fmt::format("its {} heads cannot share {} key/value heads", config.heads, config.kv_heads));
  if (config.rope_frequencies.empty() || config.rope_frequencies.size() > config.head_size / 2)
    return model.error(fmt::format("its heads of {} numbers cannot be turned in {} pairs", config.head_size,
                                   config.rope_frequencies.size()));
  return success();
}

}  // namespace

Result<ModelFile> open_model(const std::string& path, const std::string& tokenizer_path) {
  const auto open = [&]() -> Result<ModelFile> {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return open_huggingface(path, tokenizer_path);
    const fs::path extension = fs::path(path).extension();
    if (extension == ".gguf") return open_gguf(path, tokenizer_path);
    if (extension == ".safetensors") return open_huggingface(fs::path(path).parent_path(), tokenizer_path);
    return open_llama2c(path, tokenizer_path);
  };
  Result<ModelFile> model = open();
  if (!model) return model;
  if (const Status checked = check(*model); !checked) return Error{checked.error()};
  return model;
}

Result<ModelFile> open_llama2c(const std::string& path, const std::string& tokenizer_path) {
  Result<formats::Llama2c> file = formats::Llama2c::open(path);
  if (!file) return Error{file.error()};
  ModelFile model;
  model.path = path;
  LlamaConfig& config = model.config;
  config.dimensions = file->dimensions;
  config.hidden = file->hidden;
  config.layers = file->layers;
  config.heads = file->heads;
  config.kv_heads = file->kv_heads;
  config.head_size = file->dimensions / file->heads;
  config.vocabulary = file->vocabulary;
  config.context = file->sequence;
  config.rope_frequencies = rope_frequencies(config.head_size);
  for (TensorView& tensor : file->tensors) model.tensors.emplace(tensor.name, tensor);
  model.owner = file->file.owner;

  std::string tokenizer = tokenizer_path;
  if (tokenizer.empty()) {
    const fs::path folder = fs::path(path).parent_path();
    const fs::path candidates[] = {folder / "tokenizer.bin", folder / fmt::format("tok{}.bin", config.vocabulary)};
    for (const fs::path& candidate : candidates)
      if (tokenizer.empty() && fs::exists(candidate)) tokenizer = candidate;
    if (tokenizer.empty())
      return model.error(fmt::format("there is no tokenizer.bin or tok{}.bin beside it; name its tokenizer's file",
                                     config.vocabulary));
  }
  const Status set = set_tokenizer(model, read_tokenizer(tokenizer, config.vocabulary, {}));
  if (!set) return Error{set.error()};
  return model;
}

Result<ModelFile> open_gguf(const std::string& path, const std::string& tokenizer_path) {
  Result<formats::Gguf> file = formats::Gguf::open(path);
  if (!file) return Error{file.error()};
  ModelFile model;
  model.path = path;
  model.owner = file->owner();
  for (const TensorView& tensor : file->tensors()) model.tensors.emplace(tensor.name, tensor);

  const std::string architecture(file->text("general.architecture").value_or("none"));
  if (architecture != "llama")
    return model.error(fmt::format("its architecture is '{}', which is not supported; 'llama' is", architecture));
  const auto size = [&](const char* key, size_t otherwise = 0) -> size_t {
    return file->integer(fmt::format("llama.{}", key)).value_or(otherwise);
  };
  LlamaConfig& config = model.config;
  config.dimensions = size("embedding_length");
  config.hidden = size("feed_forward_length");
  config.layers = size("block_count");
  config.heads = size("attention.head_count");
  config.kv_heads = size("attention.head_count_kv", config.heads);
  config.head_size = size("attention.key_length", config.heads == 0 ? 0 : config.dimensions / config.heads);
  config.context = size("context_length");
  if (const auto found = model.tensors.find("token_embd.weight");
      found != model.tensors.end() && !found->second.shape.empty())
    config.vocabulary = found->second.shape[0];
  config.norm_epsilon = static_cast<float>(file->number("llama.attention.layer_norm_rms_epsilon").value_or(1e-5));
  if (size("expert_count") != 0) return model.error("it is a mixture of experts, which is not supported");

  const size_t turned = size("rope.dimension_count", config.head_size);
  if (turned > config.head_size) return model.error(fmt::format("it turns {} numbers of a head", turned));
  config.rope_frequencies = rope_frequencies(turned, file->number("llama.rope.freq_base").value_or(10000));
  const auto scaling = file->text("llama.rope.scaling.type").value_or("none");
  if (scaling == "linear")
    scale_linearly(config.rope_frequencies, file->number("llama.rope.scaling.factor").value_or(1));
  else if (scaling != "none")
    return model.error(fmt::format("it scales positions as '{}', which is not supported", scaling));
  if (const auto factors = model.tensors.find("rope_freqs.weight"); factors != model.tensors.end())
    if (!divide_by(config.rope_frequencies, factors->second))
      return model.error("its tensor 'rope_freqs.weight' is not one F32 number for each pair of a head");

  const Status set =
      set_tokenizer(model, tokenizer_path.empty() ? formats::read_gguf_tokenizer(*file)
                                                  : read_tokenizer(tokenizer_path, config.vocabulary, {}));
  if (!set) return Error{set.error()};
  return model;
}

}  // namespace metalloid::llama
