// The convolutions and products of a training step of examples/train_cnn, by oneDNN's own interface.
#pragma once

#include <cstdio>

namespace metalloid::tool {

// Reads lines "batch steps" and answers with the seconds of one step, or negative: there is no oneDNN.
int serve_floor(std::FILE* requests, std::FILE* answers);

}  // namespace metalloid::tool
