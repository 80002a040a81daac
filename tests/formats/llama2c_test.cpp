#include "formats/llama2c.hpp"

#include "../support/temporary_folder.hpp"

namespace metalloid::formats {
namespace {

// dimensions, hidden, layers, heads, key/value heads, vocabulary, sequence
using Header = std::vector<int32_t>;
const Header small = {8, 12, 2, 2, 1, 16, 10};

std::string file(const Header& header, size_t floats) {
  std::string bytes(reinterpret_cast<const char*>(header.data()), header.size() * sizeof header[0]);
  std::vector<float> numbers(floats);
  for (size_t i = 0; i < floats; ++i) numbers[i] = static_cast<float>(i);
  return bytes.append(reinterpret_cast<const char*>(numbers.data()), floats * sizeof(float));
}

// By hand: embedding, per layer two norms, q, k, v, o, three feed-forward matrices; the last norm, two tables.
constexpr size_t small_floats = 16 * 8 + 2 * (8 + 64 + 32 + 32 + 64 + 8 + 3 * 96) + 8 + 2 * 10 * 2;

const TensorView* find(const Llama2c& model, std::string_view name) {
  for (const TensorView& tensor : model.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

TEST(Llama2c, finds_every_tensor_where_it_lies) {
  const TemporaryFolder folder;
  const auto read = Llama2c::open(folder.write("model.bin", file(small, small_floats)));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->hidden, 12u);
  EXPECT_EQ(read->sequence, 10u);
  const auto first = [&](const char* name) { return *static_cast<const float*>(find(*read, name)->data); };
  EXPECT_EQ(first("token_embd.weight"), 0);
  EXPECT_EQ(first("blk.0.attn_norm.weight"), 128);
  EXPECT_EQ(first("blk.1.attn_norm.weight"), 136);
  EXPECT_EQ(first("blk.0.attn_q.weight"), 144);
  EXPECT_EQ(first("blk.1.attn_k.weight"), 144 + 128 + 32);
  EXPECT_EQ(find(*read, "blk.1.attn_k.weight")->shape, (std::vector<size_t>{4, 8}));
  EXPECT_EQ(find(*read, "blk.1.ffn_down.weight")->shape, (std::vector<size_t>{8, 12}));
  EXPECT_EQ(first("output_norm.weight"), static_cast<float>(small_floats - 40 - 8));
  EXPECT_EQ(find(*read, "output.weight"), nullptr);
}

TEST(Llama2c, a_negative_vocabulary_means_a_classifier_of_its_own) {
  const TemporaryFolder folder;
  Header header = small;
  header[5] = -16;
  const auto read = Llama2c::open(folder.write("model.bin", file(header, small_floats + 128)));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->vocabulary, 16u);
  ASSERT_NE(find(*read, "output.weight"), nullptr);
  EXPECT_EQ(*static_cast<const float*>(find(*read, "output.weight")->data), static_cast<float>(small_floats));
}

TEST(Llama2c, wrong_files_are_errors_that_say_why) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& content) {
    const auto read = Llama2c::open(folder.write("model.bin", content));
    return read ? "opened" : read.error();
  };
  EXPECT_NE(message("").find("has 0 bytes, too few"), std::string::npos);
  EXPECT_NE(message(file(small, small_floats - 1)).find("or was cut"), std::string::npos);
  EXPECT_NE(message(file(small, small_floats + 1)).find("or was cut"), std::string::npos);
  EXPECT_NE(message(file({8, 12, 2, 0, 1, 16, 10}, 9)).find("number 4 of its header is 0"), std::string::npos);
  EXPECT_NE(message(file({8, 12, 2, 4, 3, 16, 10}, 9)).find("4 heads and 3 key/value heads"), std::string::npos);
  EXPECT_NE(message(file({0x616B3432, 1, 2, 4, 3, 16, 10}, 9)).find("export it as version 0"), std::string::npos);
  const int32_t most = 0x7FFFFFFE;
  EXPECT_NE(message(file({most, most, most, 1, 1, most, most}, 9)).find("sizes that no file can have"),
            std::string::npos);
  EXPECT_NE(message(file({8, 12, most, 2, 1, 16, 10}, 9)).find("or was cut"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::formats
