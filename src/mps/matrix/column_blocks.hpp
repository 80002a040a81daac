// Batch normalisation on CPUs, where a SIMD-group has a block of some columns and rows: of matrices, and of images
// whose pixels are the rows and whose channels are the columns.
#pragma once

#include "mps/core/encoding.hpp"
#include "mps/core/neuron.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

struct ColumnsOfRows {
  Operand first;
  MPS::DataType type;
  RowStrides strides;
  size_t rows, columns, matrices;
};

// Of each column, numbers of the rows' type; gamma (1) and beta (0) need not be there.
struct ColumnNumbers {
  Operand mean, variance, gamma, beta;
};

// Mean and variance of the first matrix's columns.
void encode_column_statistics(Encoding& encoding, const ColumnsOfRows& source, Operand mean, Operand variance);

// Any neuron but PReLU. The result has the source's type.
void encode_column_normalization(Encoding& encoding, const ColumnsOfRows& source, Operand result,
                                 RowStrides result_strides, const ColumnNumbers& numbers, float epsilon,
                                 const Neuron& neuron);

}  // namespace metalloid::mps
