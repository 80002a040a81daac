// The picture of how a network learned.
#pragma once

#include <string>

#include "task.hpp"
#include "training/learning_curve.hpp"

namespace metalloid::train_rnn {

// The series of the learning curve.
inline constexpr const char *training_series = "training", *held_out_series = "held out";

// A PNG file.
std::string draw_curves(const training::LearningCurve& curve, const Description& description,
                        const std::string& subtitle);

}  // namespace metalloid::train_rnn
