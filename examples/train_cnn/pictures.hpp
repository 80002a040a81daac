// What the trained network is worth on the test images, as pictures.
#pragma once

#include <string>
#include <vector>

#include "mnist.hpp"
#include "network.hpp"
#include "training/learning_curve.hpp"

namespace metalloid::train_cnn {

struct Evaluation {
  double loss = 0;
  std::vector<Slot::Prediction> predictions;  // of each test image
  size_t right = 0;

  double accuracy() const { return static_cast<double>(right) / static_cast<double>(predictions.size()); }
};

// PNG files.
std::string draw_curves(const training::LearningCurve& curve, const std::string& device);
std::string draw_misclassified(const Digits& test, const Evaluation& evaluation);
std::string draw_confusion(const Digits& test, const Evaluation& evaluation);

// The series of the learning curve.
inline constexpr const char *training_loss = "training loss", *test_loss = "test loss",
                            *training_accuracy = "training accuracy", *test_accuracy = "test accuracy";

}  // namespace metalloid::train_cnn
