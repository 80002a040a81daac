// Trains a recurrent network with Metal Performance Shaders. train_rnn --help has the options.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <Foundation/Foundation.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <cstdio>

#include "trainer.hpp"
#include "training/failure.hpp"

int main(int argc, char** argv) {
  using namespace metalloid;
  CLI::App app("Trains a recurrent network to write like a text, or to add, with Metal Performance Shaders.",
               "train_rnn");
  train_rnn::Options options;
  options.command = argv[0];
  train_rnn::add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? training::exit_success : training::exit_usage_error;
  }
  try {
    return train_rnn::train(options);
  } catch (const training::Failure& failure) {
    fmt::print(stderr, "train_rnn: error: {}\n", failure.what());
    return failure.exit_code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_rnn: error: {}\n", error.what());
    return training::exit_failed;
  }
}
