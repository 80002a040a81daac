#include <signal.h>
#include <sys/resource.h>

#include <metalloid/safetensors.hpp>
#include <random>

#include "../support/temporary_folder.hpp"
#include "library/bytes.hpp"

namespace metalloid {
namespace {

using Numbers = std::vector<uint8_t>;

// Random bytes for every tensor of a file, and the views of them.
struct Sample {
  void add(std::string name, TensorType type, std::vector<size_t> shape) {
    size_t count = 1;
    for (size_t extent : shape) count *= extent;
    auto& bytes = numbers.emplace_back(std::make_unique<Numbers>(bytes_of(type, count)));
    for (uint8_t& byte : *bytes) byte = static_cast<uint8_t>(random());
    views.push_back({std::move(name), type, std::move(shape), bytes->data(), bytes->size()});
  }

  std::mt19937 random{7};
  std::vector<std::unique_ptr<Numbers>> numbers;
  std::vector<TensorView> views;
};

Numbers numbers_of(const TensorView& view) {
  const auto* const data = static_cast<const uint8_t*>(view.data);
  return {data, data + view.bytes};
}

Sample sample() {
  Sample made;
  made.add("bytes", TensorType::u8, {3});
  made.add("weight \"äöü\"", TensorType::f32, {5, 7});
  made.add("half", TensorType::f16, {3, 1, 3});
  made.add("scalar", TensorType::f64, {});
  made.add("empty", TensorType::bf16, {4, 0});
  made.add("integers", TensorType::i64, {2});
  made.add("flags", TensorType::boolean, {9});
  made.add("small", TensorType::i8, {1});
  made.add("shorts", TensorType::i16, {3});
  made.add("ints", TensorType::i32, {3});
  return made;
}

std::string file_with(std::string_view header, size_t data_bytes) {
  ByteWriter writer;
  writer.fixed64(header.size());
  std::string file(writer.bytes().begin(), writer.bytes().end());
  return file.append(header).append(data_bytes, '\x01');
}

TEST(Safetensors, gives_back_what_was_written) {
  const TemporaryFolder folder;
  const Sample written = sample();
  const std::string path = folder.file("model.safetensors");
  const Status status = write_safetensors(path, written.views, {{"format", "pt"}, {"epoch", "3"}});
  ASSERT_TRUE(status) << status.error();

  const auto read = Safetensors::open(path);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->metadata(), (std::map<std::string, std::string>{{"format", "pt"}, {"epoch", "3"}}));
  EXPECT_EQ(read->tensors().size(), written.views.size());
  for (const TensorView& expected : written.views) {
    const TensorView* found = read->find(expected.name);
    ASSERT_NE(found, nullptr) << expected.name;
    EXPECT_EQ(found->name, expected.name);
    EXPECT_EQ(found->type, expected.type);
    EXPECT_EQ(found->shape, expected.shape);
    EXPECT_EQ(numbers_of(*found), numbers_of(expected)) << expected.name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found->data) % std::max<size_t>(1, bytes_of(expected.type, 1)), 0u);
  }
  EXPECT_EQ(read->find("nothing"), nullptr);
}

TEST(Safetensors, views_outlive_the_object_they_came_from_as_long_as_a_copy_does) {
  const TemporaryFolder folder;
  const Sample written = sample();
  const std::string path = folder.file("model.safetensors");
  ASSERT_TRUE(write_safetensors(path, written.views));
  auto first = Safetensors::open(path);
  ASSERT_TRUE(first);
  const Safetensors copy = *first;
  first = Error{"gone"};
  std::filesystem::remove(path);
  EXPECT_EQ(numbers_of(*copy.find("half")), numbers_of(written.views[2]));
}

TEST(Safetensors, a_file_without_tensors_is_one) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_safetensors(folder.file("none"), {}));
  const auto read = Safetensors::open(folder.file("none"));
  ASSERT_TRUE(read) << read.error();
  EXPECT_TRUE(read->tensors().empty());
  EXPECT_TRUE(read->metadata().empty());
}

TEST(Safetensors, tensors_that_lie_unaligned_are_given_aligned) {
  const TemporaryFolder folder;
  const auto read =
      Safetensors::open(folder.write("odd", file_with(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                                      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}} )",
                                                      9)));
  ASSERT_TRUE(read) << read.error();
  const TensorView& b = *read->find("b");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b.data) % 4, 0u);
  EXPECT_EQ(static_cast<const uint32_t*>(b.data)[1], 0x01010101u);
}

TEST(Safetensors, every_cut_of_a_file_is_an_error_that_names_it) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_safetensors(folder.file("whole"), sample().views));
  const std::string whole = content_of(folder.file("whole"));
  for (size_t length = 0; length < whole.size(); length += 3) {
    const std::string path = folder.write("cut", std::string_view(whole).substr(0, length));
    const auto read = Safetensors::open(path);
    ASSERT_FALSE(read) << length;
    EXPECT_NE(read.error().find(path), std::string::npos) << read.error();
  }
}

TEST(Safetensors, wrong_headers_are_errors_that_name_the_tensor_and_the_reason) {
  const struct {
    const char* header;
    size_t data_bytes;
    const char* message;
  } cases[] = {
      {"", 0, "is not JSON"},
      {R"({"a":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]})", 0, "nesting is too deep"},
      {"[]", 0, "not a JSON object"},
      {"{\"a\":", 0, "is not JSON"},
      {R"({"a":1})", 0, "tensor 'a' has no dtype, shape and pair of data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "tensor 'a' has no dtype"},
      {R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", 4, "of the type F8_E4M3, which is not"},
      {R"({"a":{"dtype":"Q8_0","shape":[32],"data_offsets":[0,34]}})", 34, "of the type Q8_0, which is not"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "tensor 'a' has the shape [-1]"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "has the shape [1.5]"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,-4]}})", 4, "has the data_offsets [0,-4]"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "lies at the bytes 4 to 0"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "lies at the bytes 0 to 8, but the file has 4"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "F32 and the shape [2] has 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4, "has 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", 4, "has 4 bytes"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "tensor 'b' overlaps another one"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2, "tensor 'a' has bytes before it"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2, "last 1 bytes belong to no tensor"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       1, "'a' is there twice"},
      {R"({"__metadata__":{"epoch":3}})", 0, "metadata 'epoch' is not text"},
      {R"({"__metadata__":3})", 0, "metadata is not a JSON object"},
  };
  const TemporaryFolder folder;
  for (const auto& [header, data_bytes, message] : cases) {
    const auto read = Safetensors::open(folder.write("wrong", file_with(header, data_bytes)));
    ASSERT_FALSE(read) << header;
    EXPECT_NE(read.error().find(message), std::string::npos) << header << '\n' << read.error();
  }
}

TEST(Safetensors, other_files_are_errors) {
  const TemporaryFolder folder;
  const auto message = [](const std::string& path) {
    const auto read = Safetensors::open(path);
    return read ? "opened" : read.error();
  };
  EXPECT_NE(message(folder.file("nothing")).find("No such file"), std::string::npos);
  EXPECT_NE(message(folder.path().string()).find("Is a directory"), std::string::npos);
  EXPECT_NE(message(folder.write("empty", "")).find("too few for a safetensors file"), std::string::npos);
  EXPECT_NE(message(folder.write("text", "Once upon a time")).find("is not a safetensors file"), std::string::npos);
}

TEST(Safetensors, what_cannot_be_written_is_an_error_before_anything_is_touched) {
  const TemporaryFolder folder;
  const float number = 1;
  const auto message = [&](std::vector<TensorView> tensors, std::map<std::string, std::string> metadata = {}) {
    const Status written = write_safetensors(folder.file("file"), tensors, metadata);
    return written ? "written" : written.error();
  };
  const TensorView good{"a", TensorType::f32, {1}, &number, 4};
  EXPECT_NE(message({good, good}).find("'a' cannot be the name of one more tensor"), std::string::npos);
  EXPECT_NE(message({{"__metadata__", TensorType::f32, {1}, &number, 4}}).find("cannot be the name"),
            std::string::npos);
  EXPECT_NE(message({{"a", TensorType::f32, {2, 3}, &number, 4}}).find("its shape [2, 3] has not"), std::string::npos);
  EXPECT_NE(message({{"a", TensorType::f32, {1}, nullptr, 4}}).find("tensor 'a'"), std::string::npos);
  EXPECT_NE(message({{"a", TensorType::q8_0, {32}, &number, 34}}).find("type Q8_0"), std::string::npos);
  EXPECT_NE(message({{"\xff", TensorType::f32, {1}, &number, 4}}).find("not UTF-8"), std::string::npos);
  EXPECT_NE(message({good}, {{"key", "\xff"}}).find("not UTF-8"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, a_full_disk_is_an_error) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const Status written = write_safetensors("/dev/full", sample().views);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().find("No space left on device"), std::string::npos) << written.error();
}

TEST(Safetensors, a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else) {
  const TemporaryFolder folder;
  const std::string path = folder.file("checkpoint");
  ASSERT_TRUE(write_safetensors(path, sample().views, {{"epoch", "1"}}));
  Sample large;
  large.add("large", TensorType::u8, {1 << 20});

  // A limit on a file's size stands for the disk's.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {1 << 16, before.rlim_max};
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status written = write_safetensors(path, large.views, {{"epoch", "2"}});
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_handler);

  ASSERT_FALSE(written);
  EXPECT_NE(written.error().find("File too large"), std::string::npos) << written.error();
  const auto read = Safetensors::open(path);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->metadata().at("epoch"), "1");
  const auto files = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(TensorType, sizes_of_numbers_and_blocks) {
  EXPECT_EQ(bytes_of(TensorType::f64, 3), 24u);
  EXPECT_EQ(bytes_of(TensorType::bf16, 3), 6u);
  EXPECT_EQ(bytes_of(TensorType::boolean, 3), 3u);
  EXPECT_EQ(bytes_of(TensorType::q8_0, 64), 68u);
  EXPECT_EQ(name_of(TensorType::bf16), "BF16");
  EXPECT_EQ(name_of(TensorType::boolean), "BOOL");
}

}  // namespace
}  // namespace metalloid
