// The options that all trainers have, and the settings that a training keeps from its first step to its last.
#pragma once

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "failure.hpp"

namespace metalloid::training {

// What decides about every number of a training, besides the device.
struct Settings {
  size_t batch = 64;
  double rate = 0.001;
  uint64_t seed = 1;
  size_t limit = 0;  // of examples; 0: all
};

struct Options {
  std::string command;  // as people type it
  std::filesystem::path output;
  size_t epochs = 1;
  bool resume = false;
  std::optional<size_t> batch, limit;
  std::optional<double> rate;
  std::optional<uint64_t> seed;
};

// `examples` is what a training learns from: "images". The options outlive the app.
void add_options(CLI::App& app, Options& options, const Settings& defaults, const std::string& examples);

// The defaults, but for what was asked for.
Settings settle(const Options& options, const Settings& defaults);

// Those of a training that goes on. Only the rate may change; throws a Failure if another setting would.
Settings settle_again(const Options& options, const Settings& before);

// Throws a Failure if a training that goes on is asked for something else than it had.
template <class Value>
void require_same(const char* option, const std::optional<Value>& asked, const Value& had) {
  if (!asked || *asked == had) return;
  throw Failure(exit_usage_error,
                fmt::format("the training to resume has {} {}, and it cannot go on with {}: leave {} away, or begin "
                            "anew without --resume",
                            option, had, *asked, option));
}

void to_json(nlohmann::json& json, const Settings& settings);
void from_json(const nlohmann::json& json, Settings& settings);

}  // namespace metalloid::training
