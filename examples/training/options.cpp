#include "options.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace metalloid::training {

void add_options(CLI::App& app, Options& options, const Settings& defaults, const std::string& examples) {
  app.add_option("-o,--output", options.output, "The folder for checkpoint, pictures and log")->capture_default_str();
  app.add_option("--epochs", options.epochs, fmt::format("How often all {} are seen", examples))
      ->check(CLI::Range(size_t{1}, size_t{100000}))
      ->capture_default_str();
  app.add_option("--batch", options.batch, fmt::format("How many {} a step takes [{}]", examples, defaults.batch))
      ->check(CLI::Range(size_t{1}, size_t{65536}));
  app.add_option("--rate", options.rate, fmt::format("The learning rate [{}]", defaults.rate))
      ->check(CLI::Range(1e-30, 1e38));
  app.add_option(
      "--seed", options.seed,
      fmt::format("Where all random numbers begin: the same seed gives the same numbers [{}]", defaults.seed));
  app.add_option("--limit", options.limit, fmt::format("Take only the first {} of each set", examples))
      ->check(CLI::Range(size_t{1}, size_t{1} << 40));
  app.add_flag("--resume", options.resume, "Go on with the training whose checkpoint is in the output folder");
  app.add_option_function<std::string>(
      "--device", [](const std::string& name) { setenv("METALLOID_DEVICE", name.c_str(), 1); },
      "The device to train on: a part of its name, as `metalloid devices` shows it");
}

Settings settle(const Options& options, const Settings& defaults) {
  return {.batch = options.batch.value_or(defaults.batch),
          .rate = options.rate.value_or(defaults.rate),
          .seed = options.seed.value_or(defaults.seed),
          .limit = options.limit.value_or(defaults.limit)};
}

Settings settle_again(const Options& options, const Settings& before) {
  require_same("--batch", options.batch, before.batch);
  require_same("--seed", options.seed, before.seed);
  require_same("--limit", options.limit, before.limit);
  Settings settings = before;
  settings.rate = options.rate.value_or(before.rate);
  return settings;
}

void to_json(nlohmann::json& json, const Settings& settings) {
  json = {{"batch", settings.batch}, {"rate", settings.rate}, {"seed", settings.seed}, {"limit", settings.limit}};
}

void from_json(const nlohmann::json& json, Settings& settings) {
  json.at("batch").get_to(settings.batch);
  json.at("rate").get_to(settings.rate);
  json.at("seed").get_to(settings.seed);
  json.at("limit").get_to(settings.limit);
}

}  // namespace metalloid::training
