#include "formats/gguf.hpp"

#include <cstring>

#include "../support/temporary_folder.hpp"
#include "gguf_writer.hpp"

namespace metalloid::formats {
namespace {

const float numbers[64] = {1, 2, 3, 4, 5, 6};

TensorView view(std::string name, TensorType type, std::vector<size_t> shape) {
  size_t count = 1;
  for (size_t extent : shape) count *= extent;
  return {std::move(name), type, std::move(shape), numbers, bytes_of(type, count)};
}

GgufWriter sample() {
  GgufWriter writer;
  writer.text("general.architecture", "llama");
  writer.integer("llama.block_count", 5);
  writer.number("llama.rope.freq_base", 10000);
  writer.flag("tokenizer.ggml.add_bos_token", true);
  writer.texts("tokenizer.ggml.tokens", {"a", "", "\u2581b"});
  writer.numbers("tokenizer.ggml.scores", {1, -2, 0.5f});
  writer.integers("tokenizer.ggml.token_type", {1, 2, -3});
  writer.tensor(view("floats", TensorType::f32, {2, 3}));
  writer.tensor(view("halves", TensorType::f16, {3}));
  writer.tensor(view("bfloats", TensorType::bf16, {3, 1, 2}));
  writer.tensor(view("blocks", TensorType::q8_0, {2, 64}));
  return writer;
}

std::string message(const std::string& path) {
  const auto read = Gguf::open(path);
  return read ? "opened" : read.error();
}

TEST(Gguf, has_the_entries_and_tensors_of_versions_2_and_3) {
  const TemporaryFolder folder;
  for (const uint32_t version : {2, 3}) {
    const auto read = Gguf::open(folder.write("model.gguf", sample().file(version)));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->text("general.architecture"), "llama");
    EXPECT_EQ(read->integer("llama.block_count"), 5u);
    EXPECT_EQ(read->number("llama.rope.freq_base"), 10000.0);
    EXPECT_EQ(read->number("llama.block_count"), 5.0);
    EXPECT_EQ(read->flag("tokenizer.ggml.add_bos_token"), true);
    EXPECT_EQ(*read->texts("tokenizer.ggml.tokens"), (std::vector<std::string_view>{"a", "", "\u2581b"}));
    EXPECT_EQ(*read->numbers("tokenizer.ggml.scores"), (std::vector<double>{1, -2, 0.5}));
    EXPECT_EQ(*read->integers("tokenizer.ggml.token_type"), (std::vector<int64_t>{1, 2, -3}));
    EXPECT_EQ(read->text("llama.block_count"), std::nullopt);
    EXPECT_EQ(read->integer("nothing"), std::nullopt);
    ASSERT_EQ(read->tensors().size(), 4u);
    EXPECT_EQ(read->tensors()[0].shape, (std::vector<size_t>{2, 3}));
    EXPECT_EQ(read->tensors()[2].name, "bfloats");
    EXPECT_EQ(read->tensors()[3].type, TensorType::q8_0);
    EXPECT_EQ(read->tensors()[3].bytes, 136u);
    for (const TensorView& tensor : read->tensors()) {
      EXPECT_EQ(std::memcmp(tensor.data, numbers, tensor.bytes), 0) << tensor.name;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data) % 32, 0u);
    }
  }
}

TEST(Gguf, takes_the_alignment_that_the_file_says) {
  const TemporaryFolder folder;
  GgufWriter writer;
  writer.alignment = 8;
  writer.integer("general.alignment", 8);
  writer.tensor(view("a", TensorType::f16, {3}));
  writer.tensor(view("b", TensorType::f32, {3}));
  const auto read = Gguf::open(folder.write("model.gguf", writer.file()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(std::memcmp(read->tensors()[1].data, numbers, 12), 0);

  GgufWriter wrong;
  wrong.integer("general.alignment", 12);
  EXPECT_NE(message(folder.write("wrong", wrong.file())).find("its alignment is 12"), std::string::npos);
}

TEST(Gguf, every_cut_of_a_file_is_an_error_that_names_it) {
  const TemporaryFolder folder;
  const std::string whole = sample().file();
  for (size_t length = 0; length < whole.size(); length += 7) {
    const std::string path = folder.write("cut", std::string_view(whole).substr(0, length));
    ASSERT_NE(message(path).find(path), std::string::npos) << length;
  }
}

TEST(Gguf, types_that_are_not_supported_are_named) {
  const TemporaryFolder folder;
  GgufWriter writer;
  writer.tensor(view("blk.0.attn_q.weight", TensorType::f32, {2}), 12);
  EXPECT_NE(message(folder.write("model", writer.file())).find("tensor 'blk.0.attn_q.weight' is of the type Q4_K"),
            std::string::npos);
  GgufWriter unknown;
  unknown.tensor(view("a", TensorType::f32, {2}), 99);
  EXPECT_NE(message(folder.write("model", unknown.file())).find("tensor 'a' is of the type 99"), std::string::npos);
}

TEST(Gguf, wrong_headers_are_errors_that_say_why) {
  const TemporaryFolder folder;
  EXPECT_NE(message(folder.write("empty", "")).find("not a GGUF file"), std::string::npos);
  EXPECT_NE(message(folder.write("text", "Once upon a time")).find("not a GGUF file"), std::string::npos);
  EXPECT_NE(message(folder.write("old", sample().file(1))).find("version 1; versions 2 and 3"), std::string::npos);

  GgufWriter twice;
  twice.integer("a", 1);
  twice.integer("a", 2);
  EXPECT_NE(message(folder.write("twice", twice.file())).find("'a' is there twice"), std::string::npos);

  GgufWriter blocks;
  TensorView odd = view("a", TensorType::q8_0, {32});
  odd.shape = {33};
  blocks.tensor(odd);
  EXPECT_NE(message(folder.write("odd", blocks.file())).find("Q8_0 cannot have the shape [33]"), std::string::npos);

  GgufWriter huge;
  TensorView large = view("a", TensorType::f32, {2});
  large.shape = {size_t{1} << 40, size_t{1} << 40};
  huge.tensor(large);
  EXPECT_NE(message(folder.write("huge", huge.file())).find("tensor 'a'"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::formats
