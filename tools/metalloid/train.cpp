// metalloid train: the trainers of examples/ as subcommands.
#include <memory>

#include "program.hpp"
#include "train_cnn/trainer.hpp"
#include "training/failure.hpp"

namespace metalloid::tool {

namespace {

void add_cnn(CLI::App& train) {
  CLI::App* cnn = train.add_subcommand("cnn", "A convolutional network that reads handwritten digits (MNIST)");
  auto options = std::make_shared<train_cnn::Options>();
  options->command = "metalloid train cnn";
  train_cnn::add_options(*cnn, *options);
  cnn->callback([options] {
    try {
      if (const int code = train_cnn::train(*options); code != exit_success) std::exit(code);
    } catch (const training::Failure& failure) {
      throw Failure{failure.exit_code, failure.what()};
    }
  });
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train = app.add_subcommand("train", "Train a network with Metal Performance Shaders");
  train->require_subcommand(1);
  add_cnn(*train);
}

}  // namespace metalloid::tool
