#include "settings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace metalloid::train_rnn {

namespace {

Settings defaults_of(const std::string& task) {
  if (task == "adding")
    return {{.batch = 64, .rate = 0.01, .seed = 1, .limit = 6400}, "adding", "lstm", 64, 1, 50, 1, 0, 0.95, ""};
  return {{.batch = 32, .rate = 0.006, .seed = 1, .limit = 0}, "text", "lstm", 256, 1, 32, 1, 0.25, 0.9, ""};
}

}  // namespace

double Settings::rate_of(size_t epoch) const {
  return rate * std::pow(decay, double(epoch));
}

void add_options(CLI::App& app, Options& options) {
  options.output = "rnn";
  options.epochs = 20;
  const Settings text = defaults_of("text"), adding = defaults_of("adding");
  training::add_options(app, options, text, "sequences");
  app.get_option("--limit")->description("Take only so many characters of the text, or sequences in an epoch");
  // `value` of both tasks, where they differ.
  const auto described = [&](const char* words, auto Settings::* value) {
    return text.*value == adding.*value ? fmt::format("{} [{}]", words, text.*value)
                                        : fmt::format("{} [{}; {} for adding]", words, text.*value, adding.*value);
  };
  const auto add_number = [&](const char* name, auto& option, const char* words, auto Settings::* value, auto least,
                              auto most) {
    app.add_option(name, option, described(words, value))->check(CLI::Range(least, most));
  };
  app.add_option("--task", options.task,
                 "What to learn: text, to write like one, or adding, to add two marked numbers of a sequence [text]")
      ->check(CLI::IsMember({"text", "adding"}));
  app.add_option("--text", options.text,
                 "The text to learn, a file of any bytes [Genesis, which came with the program]");
  app.add_option("--cell", options.cell, described("The kind of recurrent layer: lstm or gru", &Settings::cell))
      ->check(CLI::IsMember({"lstm", "gru"}));
  constexpr size_t most = 65536;
  add_number("--hidden", options.hidden, "How many numbers a layer remembers", &Settings::hidden, size_t{1}, most);
  add_number("--layers", options.layers, "How many recurrent layers are on each other", &Settings::layers, size_t{1},
             size_t{64});
  add_number("--length", options.length, "How many steps gradients go back", &Settings::length, size_t{1}, most);
  add_number("--clip", options.clip, "The largest norm of all gradients together; 0: any", &Settings::clip, 0.0, 1e12);
  add_number("--dropout", options.dropout, "The part of each layer's results that training drops", &Settings::dropout,
             0.0, 0.95);
  add_number("--decay", options.decay, "What the rate is multiplied with after an epoch", &Settings::decay, 1e-3, 1.0);
  app.add_option("--sample", options.sample,
                 "Do not train, but write so many characters with the checkpoint in the output folder")
      ->check(CLI::Range(size_t{1}, size_t{1} << 30));
  app.add_option("--temperature", options.temperature,
                 "How daring samples are: 0 takes the likeliest character, 1 draws as the network says")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
}

Settings settle(const Options& options) {
  const Settings defaults = defaults_of(options.task.value_or("text"));
  return {training::settle(options, defaults),      defaults.task,
          options.cell.value_or(defaults.cell),     options.hidden.value_or(defaults.hidden),
          options.layers.value_or(defaults.layers), options.length.value_or(defaults.length),
          options.clip.value_or(defaults.clip),     options.dropout.value_or(defaults.dropout),
          options.decay.value_or(defaults.decay),   options.text.value_or(defaults.text)};
}

Settings settle_again(const Options& options, const Settings& before) {
  using training::require_same;
  require_same("--task", options.task, before.task);
  require_same("--cell", options.cell, before.cell);
  require_same("--hidden", options.hidden, before.hidden);
  require_same("--layers", options.layers, before.layers);
  require_same("--length", options.length, before.length);
  require_same("--clip", options.clip, before.clip);
  require_same("--dropout", options.dropout, before.dropout);
  Settings settings = before;
  static_cast<training::Settings&>(settings) = training::settle_again(options, before);
  settings.decay = options.decay.value_or(before.decay);
  settings.text = options.text.value_or(before.text);
  return settings;
}

void to_json(nlohmann::json& json, const Settings& settings) {
  training::to_json(json, settings);
  json.update({{"task", settings.task},
               {"cell", settings.cell},
               {"hidden", settings.hidden},
               {"layers", settings.layers},
               {"length", settings.length},
               {"clip", settings.clip},
               {"dropout", settings.dropout},
               {"decay", settings.decay},
               {"text", settings.text}});
}

void from_json(const nlohmann::json& json, Settings& settings) {
  training::from_json(json, settings);
  json.at("task").get_to(settings.task);
  json.at("cell").get_to(settings.cell);
  json.at("hidden").get_to(settings.hidden);
  json.at("layers").get_to(settings.layers);
  json.at("length").get_to(settings.length);
  json.at("clip").get_to(settings.clip);
  json.at("dropout").get_to(settings.dropout);
  json.at("decay").get_to(settings.decay);
  json.at("text").get_to(settings.text);
}

}  // namespace metalloid::train_rnn
