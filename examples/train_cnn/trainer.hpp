// Trains the network on MNIST: epochs of shuffled batches, a test after each, checkpoints, pictures and a log.
#pragma once

#include <filesystem>

#include "training/options.hpp"

namespace metalloid::train_cnn {

struct Options : training::Options {
  std::filesystem::path data;  // empty: that which came with the program
};

// Adds the options of this trainer, which outlive the app.
void add_options(CLI::App& app, Options& options);

// Returns what the program exits with; throws a training::Failure.
int train(const Options& options);

}  // namespace metalloid::train_cnn
