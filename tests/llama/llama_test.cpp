#include <metalloid/llama.hpp>

#include "../support/stories260k.hpp"
#include "formats/llama2c.hpp"
#include "reference.hpp"
#include "tiny_model.hpp"

namespace metalloid {
namespace {

class LlamaTest : public testing::TestWithParam<BackendPreference> {
 protected:
  void SetUp() override {
    auto made = init_backend(GetParam());
    ASSERT_TRUE(made) << made.error();
    backend = std::move(*made);
  }

  std::unique_ptr<Llama> load(const std::string& path) {
    auto loaded = Llama::load(path, backend);
    EXPECT_TRUE(loaded) << loaded.error();
    return loaded ? std::move(*loaded) : nullptr;
  }

  std::shared_ptr<Backend> backend;
};

INSTANTIATE_TEST_SUITE_P(OnBackends, LlamaTest, testing::Values(BackendPreference::Cpu, BackendPreference::Metal),
                         [](const auto& info) { return info.param == BackendPreference::Cpu ? "Cpu" : "Metal"; });

const std::vector<int> prompt = {1, 17, 200, 17, 3, 261, 90, 91, 92, 5, 44};

// Sums of some hundred products in float, layer after layer: about a thousand roundings of 6e-8 of numbers below 10.
constexpr double tolerance = 1e-3;

void expect_near(const Result<std::vector<float>>& logits, const std::vector<double>& expected, const char* what) {
  ASSERT_TRUE(logits) << what << ": " << logits.error();
  ASSERT_EQ(logits->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR((*logits)[i], expected[i], tolerance) << what << ' ' << i;
}

TEST_P(LlamaTest, every_kind_of_file_gives_the_same_logits) {
  TinyModel model;
  model.fill(1);
  const std::vector<double> expected = Reference(model).logits(prompt);
  const TemporaryFolder folder, sharded;
  const std::pair<const char*, std::string> files[] = {
      {"llama2.c", model.write_llama2c(folder)},
      {"GGUF", model.write_gguf(folder, TensorType::f32)},
      {"Hugging Face", model.write_huggingface(folder, TensorType::f32)},
      {"Hugging Face in three files", model.write_huggingface(sharded, TensorType::f32, 3)}};
  for (const auto& [kind, path] : files) {
    const auto llama = load(path);
    ASSERT_NE(llama, nullptr) << kind;
    expect_near(llama->logits(prompt), expected, kind);
  }
}

TEST_P(LlamaTest, rounded_weights_give_what_they_say) {
  TinyModel model;
  model.fill(2);
  for (const TensorType type : {TensorType::f16, TensorType::bf16, TensorType::q8_0}) {
    const TemporaryFolder folder;
    const TinyModel rounded = model.rounded_to(type);
    const std::vector<double> expected = Reference(rounded).logits(prompt);
    const std::string name(name_of(type));
    const auto llama = load(model.write_gguf(folder, type));
    ASSERT_NE(llama, nullptr) << name;
    expect_near(llama->logits(prompt), expected, name.c_str());
  }
}

TEST_P(LlamaTest, norms_of_small_types_are_used_as_they_are) {
  TinyModel model;
  model.fill(3);
  for (auto& [name, tensor] : model.tensors) tensor.numbers = round_to(TensorType::bf16, tensor.numbers).numbers;
  const TemporaryFolder folder;
  const auto llama = load(model.write_huggingface(folder, TensorType::bf16));
  ASSERT_NE(llama, nullptr);
  expect_near(llama->logits(prompt), Reference(model).logits(prompt), "bf16");
}

TEST_P(LlamaTest, token_by_token_and_in_parts_is_the_same_as_at_once) {
  TinyModel model;
  model.has_classifier = false;
  model.fill(4);
  const TemporaryFolder folder;
  const auto llama = load(model.write_llama2c(folder));
  ASSERT_NE(llama, nullptr);
  std::vector<int> tokens(model.context);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int>(i * 37 % model.vocabulary);
  const Reference reference(model);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto logits = llama->logits({tokens[i]}, i);
    if (i % 13 == 12)
      expect_near(logits, reference.logits({tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(i) + 1}), "single");
  }
  const std::vector<double> expected = reference.logits(tokens);
  expect_near(llama->logits(tokens), expected, "at once");
  for (const ptrdiff_t split : {1, 7, 33}) {
    ASSERT_TRUE(llama->logits({tokens.begin(), tokens.begin() + split}));
    expect_near(llama->logits({tokens.begin() + split, tokens.end()}, static_cast<size_t>(split)), expected, "parts");
  }
}

TEST_P(LlamaTest, stories260k_tells_its_story_token_for_token) {
  const auto folder = stories260k::folder();
  if (!folder) GTEST_SKIP() << stories260k::missing;
  const auto llama = load(*folder / "stories260K.bin");
  ASSERT_NE(llama, nullptr);
  GenerateOptions options;
  options.tokens = stories260k::greedy_tokens.size() - 1;
  std::string streamed;
  const auto story = llama->generate("", options, [&](const std::string& text) { return streamed += text, true; });
  ASSERT_TRUE(story) << story.error();
  EXPECT_EQ(story->tokens, std::vector<int>(stories260k::greedy_tokens.begin() + 1, stories260k::greedy_tokens.end()));
  EXPECT_EQ(story->text, stories260k::greedy_text);
  EXPECT_EQ(streamed, story->text);
}

// stories260K as the reference knows models.
TinyModel stories_model(const formats::Llama2c& file) {
  TinyModel model;
  model.dimensions = file.dimensions;
  model.hidden = file.hidden;
  model.layers = file.layers;
  model.heads = file.heads;
  model.kv_heads = file.kv_heads;
  model.vocabulary = file.vocabulary;
  model.context = file.sequence;
  model.has_classifier = false;
  for (const TensorView& tensor : file.tensors) {
    const auto* numbers = static_cast<const float*>(tensor.data);
    model.tensors[tensor.name] = {tensor.shape, {numbers, numbers + tensor.bytes / sizeof(float)}};
  }
  return model;
}

TEST_P(LlamaTest, stories260k_continues_prompts_as_float64_does) {
  const auto folder = stories260k::folder();
  if (!folder) GTEST_SKIP() << stories260k::missing;
  const auto file = formats::Llama2c::open(*folder / "stories260K.bin");
  ASSERT_TRUE(file) << file.error();
  const TinyModel model = stories_model(*file);
  const auto llama = load(*folder / "stories260K.bin");
  ASSERT_NE(llama, nullptr);
  for (const char* text : {"Tom and Jane", "The dog said: \"I am hungry\"", "One night 3 cats\n"}) {
    std::vector<int> tokens = *llama->tokenize(text);
    GenerateOptions options;
    options.tokens = 30;
    const auto story = llama->generate(text, options);
    ASSERT_TRUE(story) << story.error();
    const size_t first = tokens.size() - 1;
    tokens.insert(tokens.end(), story->tokens.begin(), story->tokens.end());
    const auto following = Reference(model).logits_of_each(tokens);
    for (size_t i = first; i + 1 < tokens.size(); ++i)
      ASSERT_EQ(std::max_element(following[i].begin(), following[i].end()) - following[i].begin(), tokens[i + 1])
          << text << ' ' << i;
  }
}

TEST_P(LlamaTest, a_seed_is_one_text_and_stop_strings_end_it) {
  TinyModel model;
  model.fill(5);
  const TemporaryFolder folder;
  const auto llama = load(model.write_gguf(folder, TensorType::f16));
  ASSERT_NE(llama, nullptr);
  GenerateOptions options;
  options.tokens = 20;
  options.sampling = {1.5f, 50, 0.95f, 7};
  const auto first = llama->generate("a", options), second = llama->generate("a", options);
  ASSERT_TRUE(first) << first.error();
  ASSERT_TRUE(second) << second.error();
  EXPECT_EQ(first->tokens, second->tokens);
  options.sampling.seed = 8;
  EXPECT_NE(llama->generate("a", options)->tokens, first->tokens);

  options.sampling.seed = 7;
  ASSERT_GT(first->text.size(), 4u);
  options.stop = {first->text.substr(2, 3)};
  const auto stopped = llama->generate("a", options);
  ASSERT_TRUE(stopped) << stopped.error();
  EXPECT_EQ(stopped->text, first->text.substr(0, first->text.find(options.stop[0])));
  EXPECT_LE(stopped->tokens.size(), first->tokens.size());

  size_t calls = 0;
  options.stop.clear();
  ASSERT_TRUE(llama->generate("a", options, [&](const std::string&) { return ++calls < 3; }));
  EXPECT_EQ(calls, 3u);
}

TEST_P(LlamaTest, the_context_is_the_end_of_it) {
  TinyModel model;
  model.fill(6);
  const TemporaryFolder folder;
  const auto llama = load(model.write_llama2c(folder));
  ASSERT_NE(llama, nullptr);
  GenerateOptions options;
  options.tokens = 1000;
  const auto all = llama->generate("abc", options);
  ASSERT_TRUE(all) << all.error();
  EXPECT_LE(all->tokens.size() + all->prompt_tokens, model.context + 1);
  const auto long_prompt = llama->generate(std::string(100, 'x'), options);
  ASSERT_FALSE(long_prompt);
  EXPECT_NE(long_prompt.error().find("can look back on 40 tokens, and these are 10"), std::string::npos)
      << long_prompt.error();
  EXPECT_FALSE(llama->logits({}));
  EXPECT_FALSE(llama->logits({-1}));
  EXPECT_FALSE(llama->logits({1000}));
  EXPECT_FALSE(llama->logits({1}, 40));
}

}  // namespace
}  // namespace metalloid
