// Trains the network: epochs of chunks, a test with what was held out and a sample after each, checkpoints, curves and
// a log.
#pragma once

#include "settings.hpp"

namespace metalloid::train_rnn {

// Or writes a sample, if the options say so. Returns what the program exits with; throws a training::Failure.
int train(const Options& options);

}  // namespace metalloid::train_rnn
