// Damaged model files, and settings that no model has.
#include <metalloid/llama.hpp>

#include "tiny_model.hpp"

namespace metalloid {
namespace {

std::string message(const std::string& path, const std::string& tokenizer = "") {
  auto backend = init_backend(BackendPreference::Cpu);
  if (!backend) return backend.error();
  const auto loaded = Llama::load(path, std::move(*backend), tokenizer);
  return loaded ? "loaded" : loaded.error();
}

void expect_message(const std::string& part, const std::string& path, const std::string& tokenizer = "") {
  const std::string whole = message(path, tokenizer);
  EXPECT_NE(whole.find(part), std::string::npos) << "expected: " << part << "\nis: " << whole;
}

TinyModel tiny() {
  TinyModel model;
  model.fill(1);
  return model;
}

TEST(ModelFile, files_of_zero_bytes_and_missing_ones_are_errors) {
  const TemporaryFolder folder;
  for (const char* name : {"model.bin", "model.gguf"}) {
    expect_message(folder.file(name), folder.write(name, ""));
    expect_message("No such file", folder.file(std::string("no_") + name));
  }
  expect_message("config.json': No such file", folder.path().string());
  folder.write("config.json", "");
  expect_message("config.json': it is not JSON", folder.path().string());
  expect_message("No such file", folder.file("nothing"));
}

TEST(ModelFile, a_model_of_llama2c_needs_its_tokenizer) {
  const TemporaryFolder folder;
  const std::string path = tiny().write_llama2c(folder);
  EXPECT_EQ(message(path), "loaded");
  const std::string tokenizer = content_of(folder.file("tokenizer.bin"));
  std::filesystem::remove(folder.file("tokenizer.bin"));
  expect_message("no tokenizer.bin or tok262.bin beside it", path);
  folder.write("tok262.bin", tokenizer);
  EXPECT_EQ(message(path), "loaded");
  expect_message("it has 0 whole tokens, but the model has 262", path, folder.write("empty", ""));
  expect_message("No such file", path, folder.file("missing"));
}

TEST(ModelFile, every_cut_of_a_model_is_an_error) {
  const TemporaryFolder folder;
  const TinyModel model = tiny();
  for (const std::string& path : {model.write_llama2c(folder), model.write_gguf(folder, TensorType::q8_0)}) {
    const std::string whole = content_of(path);
    for (size_t part = 0; part < 30; ++part) {
      std::filesystem::resize_file(path, whole.size() * part / 30);
      EXPECT_NE(message(path), "loaded") << path << ' ' << part;
    }
  }
}

TEST(ModelFile, a_tensor_too_few_or_too_many_or_of_another_shape_is_named) {
  const TemporaryFolder folder;
  TinyModel model = tiny();
  model.tensors.erase("blk.1.attn_q.weight");
  expect_message("it has no tensor 'blk.1.attn_q.weight'", model.write_gguf(folder, TensorType::f32));
  model = tiny();
  model.tensors["blk.0.attn_q.bias"] = {{2}, {1, 2}};
  expect_message("tensor 'blk.0.attn_q.bias' is none that it needs", model.write_gguf(folder, TensorType::f32));
  model = tiny();
  model.tensors["blk.0.ffn_up.weight"] = {{64, 96}, std::vector<float>(64 * 96)};
  expect_message("'blk.0.ffn_up.weight' has the shape [64, 96] and not [96, 64]",
                 model.write_gguf(folder, TensorType::f32));
}

TEST(ModelFile, gguf_of_another_architecture_is_named) {
  const TemporaryFolder folder;
  GgufWriter writer;
  writer.text("general.architecture", "mamba");
  expect_message("architecture is 'mamba'", folder.write("model.gguf", writer.file()));
  GgufWriter bare;
  bare.text("general.architecture", "llama");
  bare.text("tokenizer.ggml.model", "llama");
  EXPECT_NE(message(folder.write("model.gguf", bare.file())), "loaded");
}

TEST(ModelFile, wrong_settings_of_huggingface_are_named) {
  const TemporaryFolder folder;
  const std::string path = tiny().write_huggingface(folder, TensorType::f32);
  const std::string good = content_of(folder.file("config.json"));
  EXPECT_EQ(message(path), "loaded");
  EXPECT_EQ(message(folder.file("part0.safetensors")), "loaded");
  const auto with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json config = nlohmann::json::parse(good);
    config[key] = value;
    folder.write("config.json", config.dump());
    return path;
  };
  expect_message("model_type is 'gpt2'", with("model_type", "gpt2"));
  expect_message("hidden_act is 'gelu'", with("hidden_act", "gelu"));
  expect_message("scales positions as 'yarn'", with("rope_scaling", {{"rope_type", "yarn"}}));
  expect_message("it has 0 heads", with("num_attention_heads", 0));
  expect_message("cannot share 3 key/value heads", with("num_key_value_heads", 3));
  expect_message("settings are wrong", with("hidden_size", "many"));
  expect_message("it has no tensor 'blk.2.attn_norm.weight'", with("num_hidden_layers", 3));
  expect_message("is none that it needs", with("num_hidden_layers", 1));
  expect_message("tokenizer has 262 tokens, but the model only 200", with("vocab_size", 200));
  folder.write("config.json", good);
  folder.write("model.safetensors.index.json", R"({"weight_map": {"a": "../outside.safetensors"}})");
  expect_message("file outside", path);
  folder.write("model.safetensors.index.json", R"({"weight_map": {"a": "part9.safetensors"}})");
  expect_message("part9.safetensors': No such file", path);
  std::filesystem::remove(folder.file("model.safetensors.index.json"));
  std::filesystem::remove(folder.file("tokenizer.json"));
  expect_message("tokenizer.json': No such file", path);
}

}  // namespace
}  // namespace metalloid
