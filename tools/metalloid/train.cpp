// metalloid train: the trainers of examples/ as subcommands.
#include <memory>

#include "program.hpp"
#include "train_cnn/trainer.hpp"
#include "train_rnn/trainer.hpp"
#include "training/failure.hpp"

namespace metalloid::tool {

namespace {

template <class Options>
void add_trainer(CLI::App& train, const std::string& name, const std::string& description,
                 void (*add_options)(CLI::App&, Options&), int (*run)(const Options&)) {
  CLI::App* trainer = train.add_subcommand(name, description);
  auto options = std::make_shared<Options>();
  options->command = "metalloid train " + name;
  add_options(*trainer, *options);
  trainer->callback([options, run] {
    try {
      if (const int code = run(*options); code != exit_success) std::exit(code);
    } catch (const training::Failure& failure) {
      throw Failure{failure.exit_code, failure.what()};
    }
  });
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train = app.add_subcommand("train", "Train a network with Metal Performance Shaders");
  train->require_subcommand(1);
  add_trainer(*train, "cnn", "A convolutional network that reads handwritten digits (MNIST)", train_cnn::add_options,
              train_cnn::train);
  add_trainer(*train, "rnn", "A recurrent network that learns to write like a text, or to add", train_rnn::add_options,
              train_rnn::train);
}

}  // namespace metalloid::tool
