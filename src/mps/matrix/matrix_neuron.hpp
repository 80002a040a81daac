// What neurons do to matrices, for all kernels that have one.
#pragma once

#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/neuron_holder.hpp"

namespace metalloid::mps {

// result = neuron(alpha * source + bias) over the rows, columns and matrices of the source; both may be the same. Where
// that changes nothing, nothing is encoded.
void encode_neuron(Encoding& encoding, const NeuronHolder& holder, double alpha, const MatrixView& source,
                   const VectorView& bias, const MatrixView& result);

// Each column's sum over all rows and matrices.
void encode_column_sums(Encoding& encoding, const MatrixView& source, const VectorView& sums);

}  // namespace metalloid::mps
