// Writes the seeds of the fuzzers for model files into folders safetensors, gguf and tokenizer of the folder it is
// given.
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "../tests/formats/gguf_writer.hpp"

namespace {

using namespace metalloid;

const float numbers[64] = {1, 2, 3};

GgufWriter sentencepiece() {
  GgufWriter writer;
  writer.text("general.architecture", "llama");
  writer.integer("general.alignment", 32);
  writer.text("tokenizer.ggml.model", "llama");
  writer.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "<0x41>", "\u2581", "a", "\u2581a", "t", "at"});
  writer.numbers("tokenizer.ggml.scores", {0, 0, 0, 0, -1, -2, -3, -4, -5});
  writer.integers("tokenizer.ggml.token_type", {2, 3, 3, 6, 1, 1, 1, 1, 1});
  writer.flag("tokenizer.ggml.add_space_prefix", true);
  writer.tensor({"floats", TensorType::f32, {2, 3}, numbers, 24});
  writer.tensor({"blocks", TensorType::q8_0, {1, 32}, numbers, 34});
  return writer;
}

GgufWriter byte_level() {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2");
  writer.text("tokenizer.ggml.pre", "llama-bpe");
  writer.texts("tokenizer.ggml.tokens", {"a", "t", "\u0120", "at", "\u0120at", "<|eot_id|>"});
  writer.integers("tokenizer.ggml.token_type", {1, 1, 1, 1, 1, 3});
  writer.texts("tokenizer.ggml.merges", {"a t", "\u0120 at"});
  writer.integer("tokenizer.ggml.bos_token_id", 5);
  return writer;
}

constexpr const char* huggingface = R"json({
  "added_tokens": [{"id": 6, "content": "<s>", "special": true, "lstrip": true, "rstrip": true}],
  "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
    {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}| ?\\p{L}+|\\s+(?!\\S)"}, "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": true},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true},
    {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}]},
  "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}],
    "special_tokens": {"<s>": {"ids": [6]}}},
  "model": {"type": "BPE", "unk_token": "a", "fuse_unk": true, "ignore_merges": true,
    "vocab": {"a": 0, "t": 1, "Ġ": 2, "at": 3, "Ġat": 4, "▁": 5}, "merges": ["a t", ["Ġ", "at"]]}})json";

std::string llama2c_tokenizer() {
  ByteWriter writer;
  writer.fixed32(5);
  for (const char* spelling : {"<unk>", "a", "b", " ", "ab"}) {
    writer.fixed32(std::bit_cast<uint32_t>(-1.0f));
    writer.fixed32(static_cast<uint32_t>(std::string_view(spelling).size()));
    writer.append({reinterpret_cast<const uint8_t*>(spelling), std::string_view(spelling).size()});
  }
  return '\x05' + std::string(writer.bytes().begin(), writer.bytes().end());
}

std::string llama2c_model() {
  ByteWriter writer;
  for (const uint32_t value : {2, 1, 1, 1, 1, 3, 1}) writer.fixed32(value);
  for (size_t i = 0; i < 3 * 2 + 2 + 4 * 4 + 2 + 3 * 2 + 2 + 2; ++i) writer.fixed32(0);
  return '\x05' + std::string(writer.bytes().begin(), writer.bytes().end());
}

bool write(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::create_directories(path.parent_path());
  return static_cast<bool>(std::ofstream(path, std::ios::binary) << content);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const bool written = write(folder / "gguf" / "sentencepiece.gguf", sentencepiece().file()) &&
                       write(folder / "gguf" / "byte_level.gguf", byte_level().file(2)) &&
                       write(folder / "tokenizer" / "tokenizer.json", huggingface) &&
                       write(folder / "tokenizer" / "tokenizer.bin", llama2c_tokenizer()) &&
                       write(folder / "tokenizer" / "model.bin", llama2c_model());
  std::filesystem::create_directories(folder / "safetensors");
  const auto safetensors = write_safetensors(
      folder / "safetensors" / "small.safetensors",
      {{"weight", TensorType::f32, {2, 3}, numbers, 24}, {"byte", TensorType::u8, {1}, numbers, 1}}, {{"epoch", "3"}});
  if (!written || !safetensors) {
    std::fprintf(stderr, "%s\n", safetensors ? "the seeds cannot be written" : safetensors.error().c_str());
    return 1;
  }
}
