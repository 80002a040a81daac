// The softmax of rows, which matrices and images share.
#pragma once

#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

// Of the first rows and columns.
struct SoftMaxSize {
  size_t rows, columns, matrices;
};
void encode_soft_max(Encoding& encoding, bool logarithm, const MatrixView& source, const MatrixView& result,
                     SoftMaxSize size);

}  // namespace metalloid::mps
