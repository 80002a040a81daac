#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <cmath>
#include <map>
#include <metalloid/lora.hpp>
#include <metalloid/safetensors.hpp>
#include <numeric>

#include "formats/json.hpp"
#include "llama/lora_network.hpp"
#include "llama/text_pieces.hpp"

namespace metalloid {

using namespace llama;
using formats::Json;

struct LoraTrainer::Parts {
  LlamaConfig config;
  LoraOptions options;
  std::shared_ptr<Backend> backend;
  LoraNetwork network;
  TextPieces pieces;
  std::string text_key;  // what tells the text from others
  size_t steps_done = 0;

  struct Input {
    Tensor tokens, targets;
  };
  Result<Input> input(const TextBatch& batch) const;
  // The sum of losses that were encoded.
  Result<double> sum(const Tensor& losses) const;
  std::string model_key() const;
  std::vector<std::pair<const char*, Tensor>> state() const;
};

namespace {

Status check(const LoraOptions& options, const LlamaConfig& config) {
  const auto require = [](bool holds, std::string sentence) -> Status {
    if (holds) return success();
    return Error{std::move(sentence)};
  };
  constexpr size_t most = 1u << 20;
  for (const Status& each :
       {require(options.rank > 0 && options.rank <= most, fmt::format("a rank of {} is none", options.rank)),
        require(std::isfinite(options.alpha), "alpha is to be a number"),
        require(options.rate > 0 && std::isfinite(options.rate), "the rate is to be a number above 0"),
        require(options.largest_norm > 0, "the largest norm is to be a number above 0"),
        require(options.batch > 0 && options.batch <= most, fmt::format("a batch of {} is none", options.batch)),
        require(options.length > 0 && options.length <= config.context,
                fmt::format("pieces of {} tokens are none for a model that can look back on {}", options.length,
                            config.context))})
    if (!each) return each;
  return success();
}

Json to_json(const LoraOptions& options) {
  return {{"rank", options.rank},
          {"alpha", options.alpha},
          {"targets", options.targets},
          {"rate", options.rate},
          {"length", options.length},
          {"batch", options.batch},
          {"largest_norm", options.largest_norm},
          {"seed", options.seed}};
}

LoraOptions options_in(const Json& json) {
  LoraOptions options;
  json.at("rank").get_to(options.rank);
  json.at("alpha").get_to(options.alpha);
  json.at("targets").get_to(options.targets);
  json.at("rate").get_to(options.rate);
  json.at("length").get_to(options.length);
  json.at("batch").get_to(options.batch);
  json.at("largest_norm").get_to(options.largest_norm);
  json.at("seed").get_to(options.seed);
  return options;
}

// What a training's state says of itself, beside its arrays.
struct StateDescription {
  LoraOptions options;
  std::string model, text;
  size_t steps_done;
};

Error state_error(const std::string& path, const std::string& why) {
  return Error{fmt::format("cannot resume from '{}': {}", path, why)};
}

Result<StateDescription> describe(const std::string& path, const Safetensors& file) {
  const auto entry = file.metadata().find("training");
  if (entry == file.metadata().end()) return state_error(path, "it is not the state of a training");
  const Result<Json> json = formats::parse_json(entry->second);
  if (!json) return state_error(path, json.error());
  try {
    return StateDescription{options_in(json->at("options")), json->at("model").get<std::string>(),
                            json->at("text").get<std::string>(), json->at("steps").get<size_t>()};
  } catch (const Json::exception& exception) {
    return state_error(path, exception.what());
  }
}

}  // namespace

Result<std::unique_ptr<LoraTrainer>> LoraTrainer::make(const std::string& model_path, std::string_view text,
                                                       std::shared_ptr<Backend> backend, const LoraOptions& options,
                                                       const std::string& tokenizer_path) {
  if (text.empty()) return Error{"the text is empty: there is nothing to learn"};
  const Result<ModelFile> model = open_model(model_path, tokenizer_path);
  if (!model) return Error{model.error()};
  if (const Status checked = check(options, model->config); !checked) return Error{checked.error()};
  const Result<std::vector<size_t>> targets = targets_in(options.targets);
  if (!targets) return Error{targets.error()};
  Result<std::vector<formats::Token>> tokens = model->tokenizer->encode(text);
  if (!tokens) return Error{tokens.error()};
  const std::string text_key = fmt::format("{:016x}", XXH3_64bits(tokens->data(), tokens->size() * sizeof(int)));
  Result<TextPieces> pieces = TextPieces::make(std::move(*tokens), options.length, options.batch, options.seed);
  if (!pieces) return Error{pieces.error()};

  Result<Weights> weights = load_weights(*model, *backend);
  if (!weights) return Error{weights.error()};
  Result<LoraParameters> parameters = LoraParameters::make(*weights, *backend, options.rank, *targets, options.seed);
  if (!parameters) return Error{parameters.error()};
  Result<LoraNetwork> network = LoraNetwork::make(model->config, std::move(*weights), backend, std::move(*parameters),
                                                  options.alpha / float(options.rank));
  if (!network) return Error{network.error()};
  return std::unique_ptr<LoraTrainer>(new LoraTrainer(std::make_unique<Parts>(
      Parts{model->config, options, std::move(backend), std::move(*network), std::move(*pieces), text_key})));
}

LoraTrainer::LoraTrainer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LoraTrainer::~LoraTrainer() = default;

size_t LoraTrainer::parameters() const {
  return parts_->network.parameters().count();
}
size_t LoraTrainer::training_tokens() const {
  return parts_->pieces.training_tokens();
}
size_t LoraTrainer::held_out_tokens() const {
  return parts_->pieces.held_out_tokens();
}
size_t LoraTrainer::steps_per_epoch() const {
  return parts_->pieces.steps_per_epoch();
}
size_t LoraTrainer::steps_done() const {
  return parts_->steps_done;
}

// The loss and the norm are looked at before the step is made, so that one that would spoil all numbers is not.
Result<LoraStep> LoraTrainer::step() {
  Backend& backend = *parts_->backend;
  const LoraOptions& options = parts_->options;
  const LoraParameters& parameters = parts_->network.parameters();
  const TextBatch batch = parts_->pieces.training(parts_->steps_done);
  const Result<Parts::Input> input = parts_->input(batch);
  if (!input) return Error{input.error()};
  const size_t count = batch.tokens.size();
  const Tensor losses = parts_->network.losses_with_gradients(input->tokens, input->targets, 1 / float(count));
  const Tensor norms = backend.tensor(TensorType::f32, {parameters.gradients.rows()}),
               norm = backend.tensor(TensorType::f32, {1});
  backend.norms(parameters.gradients, norms);
  backend.norms(norms.reshape({1, norms.count()}), norm);
  const Result<double> total = parts_->sum(losses), length = parts_->sum(norm);
  if (!total) return Error{total.error()};
  if (!length) return Error{length.error()};

  const LoraStep step{parts_->steps_done + 1, *total / double(count), *length, count};
  if (!std::isfinite(step.loss) || !std::isfinite(step.norm))
    return Error{
        fmt::format("step {}: the loss is {} and its gradients' norm {}, from which nothing can be learnt; a "
                    "smaller rate than {} may help",
                    step.number, std::abs(step.loss), std::abs(step.norm), options.rate)};
  backend.adam(parameters.numbers, parameters.gradients, parameters.first_moments, parameters.second_moments,
               {.number = step.number,
                .rate = options.rate,
                .gradient_scale = float(std::min(1.0, options.largest_norm / std::max(step.norm, 1e-30)))});
  backend.commit();
  ++parts_->steps_done;
  return step;
}

Result<double> LoraTrainer::held_out_loss() {
  double total = 0;
  size_t count = 0;
  for (const TextBatch& batch : parts_->pieces.held_out()) {
    const Result<Parts::Input> input = parts_->input(batch);
    if (!input) return Error{input.error()};
    const Result<double> sum = parts_->sum(parts_->network.losses(input->tokens, input->targets));
    if (!sum) return Error{sum.error()};
    total += *sum;
    count += batch.tokens.size();
  }
  return total / double(count);
}

Status LoraTrainer::save(const std::string& path) {
  const Result<LoraAdapter> adapter = parts_->network.parameters().read(parts_->options.alpha, *parts_->backend);
  if (!adapter) return Error{adapter.error()};
  return write_lora(path, *adapter, parts_->config, parts_->network.weights());
}

Status LoraTrainer::save_state(const std::string& path) {
  std::vector<std::vector<float>> numbers;
  std::vector<TensorView> views;
  for (const auto& [name, array] : parts_->state()) {
    numbers.emplace_back(array.count());
    if (const Status read = parts_->backend->read(array, numbers.back().data()); !read) return read;
    views.push_back({name, TensorType::f32, array.shape(), numbers.back().data(), array.bytes()});
  }
  const Json description = {{"options", to_json(parts_->options)},
                            {"model", parts_->model_key()},
                            {"text", parts_->text_key},
                            {"steps", parts_->steps_done}};
  return write_safetensors(path, views, {{"training", description.dump()}});
}

Status LoraTrainer::resume(const std::string& path) {
  const Result<Safetensors> file = Safetensors::open(path);
  if (!file) return Error{file.error()};
  const Result<StateDescription> before = describe(path, *file);
  if (!before) return Error{before.error()};
  const Json was = to_json(before->options), is = to_json(parts_->options);
  for (const auto& [key, value] : was.items())
    if (key != "rate" && value != is[key])
      return state_error(
          path, fmt::format("it was begun with {} {}, which cannot become {}", key, value.dump(), is[key].dump()));
  if (before->model != parts_->model_key())
    return state_error(
        path, fmt::format("it is of a model with {}, and this one has {}", before->model, parts_->model_key()));
  if (before->text != parts_->text_key) return state_error(path, "it was begun on another text");

  const auto state = parts_->state();
  for (const auto& [name, array] : state) {
    const TensorView* stored = file->find(name);
    if (!stored || stored->type != TensorType::f32 || stored->shape != array.shape())
      return state_error(path, fmt::format("its tensor '{}' is missing or has another shape", name));
  }
  for (const auto& [name, array] : state)
    if (const Status written = parts_->backend->write(array, file->find(name)->data); !written) return written;
  parts_->steps_done = before->steps_done;
  return success();
}

Result<LoraOptions> lora_options_of_state(const std::string& path) {
  const Result<Safetensors> file = Safetensors::open(path);
  if (!file) return Error{file.error()};
  const Result<StateDescription> description = describe(path, *file);
  if (!description) return Error{description.error()};
  return description->options;
}

Result<LoraTrainer::Parts::Input> LoraTrainer::Parts::input(const TextBatch& batch) const {
  const std::vector<size_t> shape = {batch.texts, batch.length};
  const Input input{backend->tensor(TensorType::i32, shape), backend->tensor(TensorType::i32, shape)};
  for (const auto& [tensor, numbers] : {std::pair{&input.tokens, &batch.tokens}, {&input.targets, &batch.targets}})
    if (const Status written = backend->write(*tensor, numbers->data()); !written) return Error{written.error()};
  return input;
}

Result<double> LoraTrainer::Parts::sum(const Tensor& losses) const {
  std::vector<float> numbers(losses ? losses.count() : 0);
  if (const Status read = backend->read(losses, numbers.data()); !read) return Error{read.error()};
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

std::string LoraTrainer::Parts::model_key() const {
  return fmt::format("{} layers of {} and {} numbers, {} and {} heads of {}, {} tokens", config.layers,
                     config.dimensions, config.hidden, config.heads, config.kv_heads, config.head_size,
                     config.vocabulary);
}

std::vector<std::pair<const char*, Tensor>> LoraTrainer::Parts::state() const {
  const LoraParameters& parameters = network.parameters();
  return {{"numbers", parameters.numbers},
          {"first_moments", parameters.first_moments},
          {"second_moments", parameters.second_moments}};
}

}  // namespace metalloid
