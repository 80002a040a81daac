// Trains a recurrent network to write like a text, or to add, with Metal Performance Shaders. train_rnn --help has the
// options.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>

#include "trainer.hpp"
#include "training/program.hpp"

int main(int argc, char** argv) {
  using namespace metalloid;
  return training::run_program(
      argc, argv, "train_rnn",
      "Trains a recurrent network to write like a text, or to add, with Metal Performance Shaders.",
      train_rnn::add_options, train_rnn::train);
}
