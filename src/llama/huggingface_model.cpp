// A folder of Hugging Face: config.json, one or more safetensors files (an index says which, if there is one), and
// tokenizer.json. Its names of tensors become GGUF's.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "formats/json.hpp"
#include "library/file.hpp"
#include "llama/model_file.hpp"
#include "llama/rope_scaling.hpp"

namespace metalloid::llama {

namespace fs = std::filesystem;
using formats::Json;

namespace {

Result<Json> read_json(const fs::path& path) {
  const Result<SharedBytes> mapped = map_file(path);
  if (!mapped) return Error{mapped.error()};
  Result<Json> parsed =
      formats::parse_json({reinterpret_cast<const char*>(mapped->bytes.data()), mapped->bytes.size()});
  if (!parsed) return Error{fmt::format("cannot read '{}': {}", path.string(), parsed.error())};
  if (!parsed->is_object()) return Error{fmt::format("cannot read '{}': it is not a JSON object", path.string())};
  return parsed;
}

// Null where it says null as where it says nothing.
template <class T>
T value_of(const Json& config, const char* key, T otherwise) {
  const auto found = config.find(key);
  return found == config.end() || found->is_null() ? otherwise : found->get<T>();
}

Status read_config(const Json& json, ModelFile& model) {
  const auto type = value_of<std::string>(json, "model_type", "none");
  if (type != "llama" && type != "mistral")
    return model.error(fmt::format("its model_type is '{}', which is not supported; 'llama' is", type));
  if (const auto function = value_of<std::string>(json, "hidden_act", "silu"); function != "silu")
    return model.error(fmt::format("its hidden_act is '{}', which is not supported; 'silu' is", function));
  LlamaConfig& config = model.config;
  config.dimensions = value_of<size_t>(json, "hidden_size", 0);
  config.hidden = value_of<size_t>(json, "intermediate_size", 0);
  config.layers = value_of<size_t>(json, "num_hidden_layers", 0);
  config.heads = value_of<size_t>(json, "num_attention_heads", 0);
  config.kv_heads = value_of<size_t>(json, "num_key_value_heads", config.heads);
  config.head_size = value_of<size_t>(json, "head_dim", config.heads == 0 ? 0 : config.dimensions / config.heads);
  config.vocabulary = value_of<size_t>(json, "vocab_size", 0);
  config.context = value_of<size_t>(json, "max_position_embeddings", 2048);
  if (const auto window = value_of<size_t>(json, "sliding_window", config.context); window < config.context)
    config.context = window;  // within the window it makes no difference
  config.norm_epsilon = value_of<float>(json, "rms_norm_eps", 1e-6f);
  config.rope_pairs = RopePairs::Halves;
  if (config.head_size > (1u << 20)) return model.error(fmt::format("its heads have {} numbers", config.head_size));
  config.rope_frequencies = rope_frequencies(config.head_size, value_of<double>(json, "rope_theta", 10000));

  const Json scaling = value_of<Json>(json, "rope_scaling", Json::object());
  const auto kind = value_of<std::string>(scaling, "rope_type", value_of<std::string>(scaling, "type", "default"));
  const double factor = value_of<double>(scaling, "factor", 1);
  if (kind == "llama3")
    scale_as_llama3(config.rope_frequencies, {factor, value_of<double>(scaling, "low_freq_factor", 1),
                                              value_of<double>(scaling, "high_freq_factor", 4),
                                              value_of<double>(scaling, "original_max_position_embeddings", 8192)});
  else if (kind == "linear")
    scale_linearly(config.rope_frequencies, factor);
  else if (kind != "default")
    return model.error(fmt::format("it scales positions as '{}', which is not supported", kind));
  return success();
}

Result<std::set<fs::path>> safetensors_files(const fs::path& folder, const ModelFile& model) {
  std::set<fs::path> files;
  if (const fs::path index_path = folder / "model.safetensors.index.json"; fs::exists(index_path)) {
    const Result<Json> index = read_json(index_path);
    if (!index) return Error{index.error()};
    for (const auto& [tensor, file] : index->at("weight_map").items()) {
      const fs::path name = file.get<std::string>();
      if (name.has_parent_path()) return model.error(fmt::format("its index has a file outside: '{}'", name.string()));
      files.insert(folder / name);
    }
  } else {
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".safetensors") files.insert(entry.path());
  }
  if (files.empty()) return model.error("there is no safetensors file in it");
  return files;
}

// Ours for theirs; empty for tables that later programs compute.
Result<std::string> tensor_name(const std::string& name, const ModelFile& model) {
  static const std::map<std::string_view, const char*> whole = {{"model.embed_tokens.weight", "token_embd.weight"},
                                                                {"model.norm.weight", "output_norm.weight"},
                                                                {"lm_head.weight", "output.weight"}};
  static const std::map<std::string_view, const char*> in_layer = {
      {"input_layernorm.weight", "attn_norm"},    {"self_attn.q_proj.weight", "attn_q"},
      {"self_attn.k_proj.weight", "attn_k"},      {"self_attn.v_proj.weight", "attn_v"},
      {"self_attn.o_proj.weight", "attn_output"}, {"post_attention_layernorm.weight", "ffn_norm"},
      {"mlp.gate_proj.weight", "ffn_gate"},       {"mlp.up_proj.weight", "ffn_up"},
      {"mlp.down_proj.weight", "ffn_down"}};
  if (const auto found = whole.find(name); found != whole.end()) return std::string(found->second);
  if (name.ends_with("rotary_emb.inv_freq")) return std::string();
  constexpr std::string_view prefix = "model.layers.";
  if (name.starts_with(prefix)) {
    const size_t dot = name.find('.', prefix.size());
    if (dot != std::string::npos)
      if (const auto found = in_layer.find(std::string_view(name).substr(dot + 1)); found != in_layer.end())
        return fmt::format("blk.{}.{}.weight", name.substr(prefix.size(), dot - prefix.size()), found->second);
  }
  return model.error(fmt::format("tensor '{}' is none that a Llama has", name));
}

Status read_tensors(const std::set<fs::path>& files, ModelFile& model) {
  auto opened = std::make_shared<std::vector<Safetensors>>();
  for (const fs::path& path : files) {
    const Result<Safetensors> file = Safetensors::open(path);
    if (!file) return Error{file.error()};
    for (const TensorView& tensor : file->tensors()) {
      const Result<std::string> name = tensor_name(tensor.name, model);
      if (!name) return Error{name.error()};
      if (!name->empty() && !model.tensors.emplace(*name, tensor).second)
        return model.error(fmt::format("tensor '{}' is in two of its files", tensor.name));
    }
    opened->push_back(*file);
  }
  model.owner = std::move(opened);
  return success();
}

void add_ends(const Json& json, std::vector<formats::Token>& ends) {
  const auto found = json.find("eos_token_id");
  if (found == json.end() || found->is_null()) return;
  for (const Json& token : found->is_array() ? *found : Json::array({*found}))
    ends.push_back(token.get<formats::Token>());
}

}  // namespace

Result<ModelFile> open_huggingface(const std::string& path, const std::string& tokenizer_path) {
  const fs::path folder = path.empty() ? "." : path;
  ModelFile model;
  model.path = folder;
  const Result<Json> config = read_json(folder / "config.json");
  if (!config) return Error{config.error()};
  try {
    if (const Status read = read_config(*config, model); !read) return Error{read.error()};
    const Result<std::set<fs::path>> files = safetensors_files(folder, model);
    if (!files) return Error{files.error()};
    if (const Status read = read_tensors(*files, model); !read) return Error{read.error()};

    std::vector<formats::Token> ends;
    add_ends(*config, ends);
    if (const fs::path generation = folder / "generation_config.json"; fs::exists(generation)) {
      const Result<Json> json = read_json(generation);
      if (!json) return Error{json.error()};
      add_ends(*json, ends);
    }
    const std::string tokenizer = tokenizer_path.empty() ? (folder / "tokenizer.json").string() : tokenizer_path;
    if (const Status set = set_tokenizer(model, read_tokenizer(tokenizer, model.config.vocabulary, ends)); !set)
      return Error{set.error()};
  } catch (const Json::exception& exception) {
    return model.error(fmt::format("its settings are wrong: {}", exception.what()));
  } catch (const fs::filesystem_error& error) {
    return model.error(error.code().message());
  }
  return model;
}

}  // namespace metalloid::llama
