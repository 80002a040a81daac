// Trains a convolutional network on the MNIST digits with Metal Performance Shaders. train_cnn --help has the
// options.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>

#include "trainer.hpp"
#include "training/program.hpp"

int main(int argc, char** argv) {
  using namespace metalloid;
  return training::run_program(argc, argv, "train_cnn",
                               "Trains a convolutional network on the MNIST digits with Metal Performance Shaders.",
                               train_cnn::add_options, train_cnn::train);
}
