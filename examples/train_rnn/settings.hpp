// The options of this trainer, and the settings that a training keeps from its first step to its last.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "network.hpp"
#include "training/options.hpp"

namespace metalloid::train_rnn {

// What decides about every number of a training, besides the device and the text.
struct Settings : training::Settings {
  std::string task, cell;
  size_t hidden, layers, length;
  double clip, dropout, decay;
  std::string text;  // the file; empty: that which came with the program

  Cell cell_kind() const { return cell == "gru" ? Cell::gru : Cell::lstm; }
  double rate_of(size_t epoch) const;
};

struct Options : training::Options {
  std::optional<std::string> task, cell, text;
  std::optional<size_t> hidden, layers, length;
  std::optional<double> clip, dropout, decay;
  size_t sample = 0;  // characters to write from a checkpoint, instead of training
  double temperature = 0.7;
};

void add_options(CLI::App& app, Options& options);

// The defaults of the task, but for what was asked for.
Settings settle(const Options& options);
// Those of a training that goes on. Only rate and decay may change; throws a training::Failure if another would.
Settings settle_again(const Options& options, const Settings& before);

void to_json(nlohmann::json& json, const Settings& settings);
void from_json(const nlohmann::json& json, Settings& settings);

}  // namespace metalloid::train_rnn
