#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <metalloid/llama.hpp>
#include <metalloid/lora.hpp>
#include <numeric>

#include "llama/lora_network.hpp"
#include "llama/text_pieces.hpp"
#include "reference.hpp"
#include "tiny_model.hpp"

namespace metalloid::llama {
namespace {

class LoraTest : public testing::TestWithParam<BackendPreference> {
 protected:
  void SetUp() override {
    auto made = init_backend(GetParam());
    ASSERT_TRUE(made) << made.error();
    backend = std::move(*made);
    tiny.dimensions = 16;
    tiny.hidden = 24;
    tiny.fill(3);
  }

  std::unique_ptr<LoraTrainer> trainer(const std::string& model, const LoraOptions& options) {
    auto made = LoraTrainer::make(model, text, backend, options);
    EXPECT_TRUE(made) << made.error();
    return made ? std::move(*made) : nullptr;
  }
  std::string error_of(const std::string& text_to_learn, const LoraOptions& options) {
    const auto made = LoraTrainer::make(tiny.write_llama2c(folder), text_to_learn, backend, options);
    return made ? "" : made.error();
  }
  std::vector<float> logits(const std::string& model, const std::string& adapter = "", float scale = 1) {
    auto loaded = Llama::load(model, backend);
    EXPECT_TRUE(loaded) << loaded.error();
    if (!adapter.empty()) {
      const Status added = (*loaded)->add_lora(adapter, scale);
      EXPECT_TRUE(added) << added.error();
    }
    const auto found = (*loaded)->logits({1, 60, 70, 80});
    EXPECT_TRUE(found) << found.error();
    return *found;
  }
  static double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double(a[i]) - b[i]));
    return largest;
  }

  std::shared_ptr<Backend> backend;
  TinyModel tiny;
  TemporaryFolder folder;
  const LoraOptions small = {.rank = 4, .alpha = 8, .targets = "all", .rate = 0.02f, .length = 16, .batch = 3};
  const std::string text = [] {
    std::string text;
    for (int i = 0; i < 12; ++i) text += "the cat sat on the mat, and the dog sat on the log. ";
    return text;
  }();
};

INSTANTIATE_TEST_SUITE_P(OnBackends, LoraTest, testing::Values(BackendPreference::Cpu, BackendPreference::Metal),
                         [](const auto& info) { return info.param == BackendPreference::Cpu ? "Cpu" : "Metal"; });

// What adapters make of the model's weights, for the float64 reference, which has them as one matrix.
TinyModel merged(const TinyModel& model, const LoraAdapter& adapter) {
  constexpr const char* names[] = {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"};
  TinyModel result = model;
  for (const auto& [layer, target, rank, a, b] : adapter.each) {
    NamedNumbers& matrix = result.tensors["blk." + std::to_string(layer) + "." + names[target] + ".weight"];
    const size_t in = matrix.shape[1];
    for (size_t i = 0; i < matrix.numbers.size(); ++i) {
      double sum = matrix.numbers[i];
      for (size_t r = 0; r < rank; ++r)
        sum += double(adapter.alpha) / double(rank) * b[i / in * rank + r] * a[r * in + i % in];
      matrix.numbers[i] = float(sum);
    }
  }
  return result;
}

double loss_of(const TinyModel& model, const std::vector<std::vector<int>>& texts,
               const std::vector<std::vector<int>>& targets) {
  double loss = 0;
  for (size_t text = 0; text < texts.size(); ++text) {
    const std::vector<std::vector<double>> logits = Reference(model).logits_of_each(texts[text]);
    for (size_t i = 0; i < texts[text].size(); ++i) {
      if (targets[text][i] < 0) continue;
      double sum = 0;
      for (const double logit : logits[i]) sum += std::exp(logit);
      loss += std::log(sum) - logits[i][size_t(targets[text][i])];
    }
  }
  return loss;
}

// Differences of the reference's loss, (L(x + h) - L(x - h)) / 2h. The reference has weights in float, whose rounding
// makes an error of some 1e-7 / h; h = 0.005 makes one of some h² of the gradient, too.
TEST_P(LoraTest, gradients_of_all_matrices_are_those_of_the_loss) {
  const Result<ModelFile> file = open_model(tiny.write_llama2c(folder), "");
  ASSERT_TRUE(file) << file.error();
  const Result<Weights> weights = load_weights(*file, *backend);
  ASSERT_TRUE(weights) << weights.error();
  const Result<LoraParameters> parameters = LoraParameters::make(*weights, *backend, 2, {0, 1, 2, 3, 4, 5, 6}, 5);
  ASSERT_TRUE(parameters) << parameters.error();
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> distribution(-0.3f, 0.3f);
  for (size_t layer = 0; layer < 2; ++layer)  // without numbers in B, A would have no gradients
    for (size_t target = 0; target < 7; ++target) {
      const Tensor& b = parameters->adapter(layer, target).b;
      std::vector<float> numbers(b.count());
      for (float& number : numbers) number = distribution(generator);
      ASSERT_TRUE(backend->write(b, numbers.data()));
    }
  const Result<LoraNetwork> network = LoraNetwork::make(file->config, *weights, backend, *parameters, 0.5f);
  ASSERT_TRUE(network) << network.error();

  const std::vector<std::vector<int>> texts = {{1, 100, 33, 7, 250}, {90, 91, 90, 4, 17}};
  const std::vector<std::vector<int>> targets = {{100, 33, -1, 250, 8}, {91, -1, 4, 17, 200}};
  const Tensor tokens = backend->tensor(TensorType::i32, {2, 5}), following = backend->tensor(TensorType::i32, {2, 5});
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(backend->write(tokens.slice(i, 1), texts[i].data()));
    ASSERT_TRUE(backend->write(following.slice(i, 1), targets[i].data()));
  }
  const Tensor losses = network->losses_with_gradients(tokens, following, 1);
  std::vector<float> found(10);
  const Status read = backend->read(losses, found.data());
  ASSERT_TRUE(read) << read.error();
  LoraAdapter adapter = *parameters->read(1, *backend);
  EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), loss_of(merged(tiny, adapter), texts, targets), 1e-4);

  constexpr float h = 0.005f;
  size_t checked = 0;
  for (LoraMatrices& matrices : adapter.each)
    for (const bool is_a : {true, false}) {
      std::vector<float>& numbers = is_a ? matrices.a : matrices.b;
      const TrainedAdapter& trained = parameters->adapter(matrices.layer, matrices.target);
      std::vector<float> gradients(numbers.size());
      ASSERT_TRUE(backend->read(is_a ? trained.a_gradient : trained.b_gradient, gradients.data()));
      for (size_t i = 0; i < numbers.size(); i += 3, ++checked) {
        const float before = numbers[i];
        numbers[i] = before + h;
        const double above = loss_of(merged(tiny, adapter), texts, targets);
        numbers[i] = before - h;
        const double below = loss_of(merged(tiny, adapter), texts, targets);
        numbers[i] = before;
        const double difference = (above - below) / (2 * double(h));
        ASSERT_NEAR(gradients[i], difference, 1e-4 + 1e-3 * std::abs(difference))
            << lora_tensor_name(matrices.layer, matrices.target, is_a ? 'A' : 'B') << " " << i;
      }
    }
  EXPECT_GT(checked, 300u);
}

TEST_P(LoraTest, training_lowers_the_loss_of_the_text_and_of_what_is_held_out) {
  const auto learner = trainer(tiny.write_llama2c(folder), small);
  ASSERT_TRUE(learner);
  const double before = *learner->held_out_loss();
  double first = 0, last = 0;
  for (int i = 0; i < 40; ++i) {
    const Result<LoraStep> step = learner->step();
    ASSERT_TRUE(step) << step.error();
    (i == 0 ? first : last) = step->loss;
  }
  EXPECT_LT(last, 0.65 * first);
  EXPECT_LT(*learner->held_out_loss(), 0.65 * before);  // the text repeats itself
}

TEST_P(LoraTest, an_adapter_that_has_learnt_nothing_changes_nothing) {
  const std::string model = tiny.write_llama2c(folder), file = folder.file("adapter.safetensors");
  ASSERT_TRUE(trainer(model, small)->save(file));
  EXPECT_EQ(largest_difference(logits(model), logits(model, file)), 0);
}

// In the trainer adapters stand beside the weights, and in Llama they are merged into them.
TEST_P(LoraTest, a_saved_adapter_gives_the_same_in_every_format_of_the_model) {
  const TemporaryFolder other;
  const std::string model = tiny.write_llama2c(folder), file = folder.file("adapter.safetensors");
  const auto learner = trainer(model, small);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(learner->step());
  ASSERT_TRUE(learner->save(file));
  const std::vector<float> expected = logits(model, file);
  EXPECT_GT(largest_difference(expected, logits(model)), 0.1);
  EXPECT_LT(largest_difference(expected, logits(tiny.write_gguf(folder, TensorType::f32), file)), 1e-4);
  EXPECT_LT(largest_difference(expected, logits(tiny.write_huggingface(other, TensorType::f32), file)), 1e-3);
  EXPECT_LT(largest_difference(logits(model, file, 0), logits(model)), 1e-6);

  const Result<ModelFile> opened = open_model(model, "");
  Result<Weights> weights = load_weights(*opened, *backend);
  const Result<LoraAdapter> adapter = read_lora(file, opened->config, *weights, *backend);
  ASSERT_TRUE(adapter) << adapter.error();
  const std::vector<double> reference = Reference(merged(tiny, *adapter)).logits({1, 60, 70, 80});
  for (size_t i = 0; i < reference.size(); ++i) ASSERT_NEAR(expected[i], reference[i], 1e-3);
}

TEST_P(LoraTest, weights_of_every_type_learn_and_take_adapters) {
  TinyModel wide;  // rows of Q8_0 are whole blocks
  wide.fill(4);
  for (const TensorType type : {TensorType::f16, TensorType::bf16, TensorType::q8_0}) {
    const TemporaryFolder here;
    const std::string model = wide.write_gguf(here, type), file = here.file("adapter.safetensors");
    LoraOptions options = small;
    options.targets = "q,v";
    const auto learner = trainer(model, options);
    ASSERT_TRUE(learner);
    const double before = *learner->held_out_loss();
    for (int i = 0; i < 8; ++i) {
      const Result<LoraStep> step = learner->step();
      ASSERT_TRUE(step) << step.error();
    }
    EXPECT_LT(*learner->held_out_loss(), before) << name_of(type);
    ASSERT_TRUE(learner->save(file));
    EXPECT_GT(largest_difference(logits(model, file), logits(model)), 0.1) << name_of(type);
  }
}

TEST_P(LoraTest, a_training_that_was_interrupted_goes_on_as_if_it_had_not_been) {
  const std::string model = tiny.write_llama2c(folder), state = folder.file("state"),
                    one = folder.file("one.safetensors"), two = folder.file("two.safetensors");
  const auto whole = trainer(model, small), before = trainer(model, small), after = trainer(model, small);
  const size_t steps = whole->steps_per_epoch() + 3;
  for (size_t i = 0; i < steps; ++i) ASSERT_TRUE(whole->step());
  for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(before->step());
  ASSERT_TRUE(before->save_state(state));
  EXPECT_EQ(lora_options_of_state(state)->targets, "all");
  const Status resumed = after->resume(state);
  ASSERT_TRUE(resumed) << resumed.error();
  EXPECT_EQ(after->steps_done(), 5u);
  for (size_t i = 5; i < steps; ++i) ASSERT_TRUE(after->step());
  ASSERT_TRUE(whole->save(one));
  ASSERT_TRUE(after->save(two));
  EXPECT_EQ(largest_difference(logits(model, one), logits(model, two)), 0);

  LoraOptions others = small;
  others.rank = 2;
  const Status refused = trainer(model, others)->resume(state);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("it was begun with rank 4, which cannot become 2"), std::string::npos)
      << refused.error();
  EXPECT_FALSE(trainer(model, small)->resume(one));
}

TEST_P(LoraTest, a_loss_that_is_no_number_stops_it_and_spoils_nothing) {
  const std::string file = folder.file("adapter.safetensors");
  tiny.tensors["output_norm.weight"].numbers[3] = NAN;
  const auto learner = trainer(tiny.write_llama2c(folder), small);
  const Result<LoraStep> step = learner->step();
  ASSERT_FALSE(step);
  EXPECT_NE(step.error().find("step 1: the loss is"), std::string::npos) << step.error();
  EXPECT_EQ(learner->steps_done(), 0u);
}

TEST_P(LoraTest, texts_and_options_that_do_not_do_are_named) {
  EXPECT_EQ(error_of("", small), "the text is empty: there is nothing to learn");
  EXPECT_EQ(error_of("too short", small),
            "the text has 11 tokens, of which 2 are held out, and one piece to learn from needs 17; take a longer "
            "text, or shorter pieces");
  LoraOptions options = small;
  options.targets = "q,x";
  EXPECT_EQ(error_of(text, options), "'x' is no target for adapters; they are q, k, v, o, gate, up, down, or all");
  options = small;
  options.length = 41;
  EXPECT_EQ(error_of(text, options), "pieces of 41 tokens are none for a model that can look back on 40");
  options = small;
  options.rank = 0;
  EXPECT_EQ(error_of(text, options), "a rank of 0 is none");
}

TEST_P(LoraTest, an_adapter_that_does_not_fit_the_model_is_refused_by_the_tensor) {
  const std::string model = tiny.write_llama2c(folder), file = folder.file("adapter.safetensors");
  ASSERT_TRUE(trainer(model, small)->save(file));
  const auto refusal = [&](const TinyModel& other) {
    const TemporaryFolder elsewhere;
    const auto loaded = Llama::load(other.write_llama2c(elsewhere), backend);
    const Status added = (*loaded)->add_lora(file);
    return added ? "" : added.error();
  };
  TinyModel larger = tiny, shorter = tiny;
  larger.hidden = 32;
  larger.fill(1);
  shorter.layers = 1;
  shorter.fill(1);
  EXPECT_NE(refusal(larger).find("tensor 'base_model.model.model.layers.0.mlp.gate_proj.lora_B.weight' has the shape "
                                 "[24, 4], and the model needs [32, 4]"),
            std::string::npos)
      << refusal(larger);
  EXPECT_NE(refusal(shorter).find("layers.1."), std::string::npos) << refusal(shorter);

  const auto loaded = Llama::load(model, backend);
  const std::vector<float> number = {1};
  ASSERT_TRUE(write_safetensors(file, {{"something", TensorType::f32, {1}, number.data(), 4}}));
  EXPECT_NE((*loaded)->add_lora(file).error().find("tensor 'something' is none of an adapter"), std::string::npos);
  EXPECT_FALSE((*loaded)->add_lora(folder.file("missing")));
}

TEST(TextPieces, hold_the_last_tenth_out_and_go_through_the_rest_once_in_an_epoch) {
  std::vector<int> tokens(100);
  std::iota(tokens.begin(), tokens.end(), 0);
  const Result<TextPieces> pieces = TextPieces::make(tokens, 7, 5, 1);
  ASSERT_TRUE(pieces) << pieces.error();
  EXPECT_EQ(pieces->held_out_tokens(), 10u);
  EXPECT_EQ(pieces->steps_per_epoch(), 3u);  // 12 pieces of the 89 tokens that have one behind them
  std::vector<int> order;
  for (size_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<int> seen;
    for (size_t step = 0; step < 3; ++step) {
      const TextBatch batch = pieces->training(epoch * 3 + step);
      EXPECT_EQ(batch.texts, step == 2 ? 2u : 5u);
      for (size_t i = 0; i < batch.tokens.size(); ++i) EXPECT_EQ(batch.targets[i], batch.tokens[i] + 1);
      seen.insert(seen.end(), batch.tokens.begin(), batch.tokens.end());
    }
    EXPECT_NE(seen, order);
    order = seen;
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
    EXPECT_LT(seen.back(), 89);
  }
  const std::vector<TextBatch> held_out = pieces->held_out();
  ASSERT_EQ(held_out.size(), 2u);
  EXPECT_EQ(held_out[0].tokens, (std::vector<int32_t>{90, 91, 92, 93, 94, 95, 96}));
  EXPECT_EQ(held_out[1].targets, (std::vector<int32_t>{98, 99}));
}

}  // namespace
}  // namespace metalloid::llama
