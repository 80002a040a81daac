// One function for each operation: a primitive of OpenBLAS or oneDNN, or null for what neither has.
#pragma once

#include <memory>

#include "mps/libraries/convolution.hpp"
#include "mps/libraries/library.hpp"
#include "mps/libraries/linear_systems.hpp"
#include "mps/libraries/matrix_product.hpp"

namespace metalloid::mps::cpu {

std::shared_ptr<Primitive> make_matrix_product(const MatrixProduct& product);
std::shared_ptr<Primitive> make_matrix_decomposition(const MatrixDecomposition& decomposition);
std::shared_ptr<Primitive> make_triangular_system(const TriangularSystem& system);
std::shared_ptr<Primitive> make_convolution(const Convolution& convolution);

}  // namespace metalloid::mps::cpu
