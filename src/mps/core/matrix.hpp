// The objects behind MPS::Matrix and MPS::Vector, and the parts of kernels that work on them.
//
// A temporary matrix is a matrix, and every interface has one class behind it: so all matrices are of the class that
// has the longer interface, and one that is not temporary only never shows it.
#pragma once

#include <MetalPerformanceShaders/MPSMatrix.hpp>

#include "mps/core/kernel.hpp"
#include "mps/core/operand.hpp"
#include "mps/core/temporary_memory.hpp"

namespace metalloid::mps {

// Where a temporary object lives, and how often it will still be read there. Reading it for the last time gives its
// memory back.
struct TemporaryLife {
  TemporaryHomePointer home;
  NS::UInteger read_count = 1;

  void set_read_count(NS::UInteger count, MTL::Buffer* memory);
  void read(MTL::Buffer* memory);
};

struct MatrixLayout {
  size_t rows = 0, columns = 0, matrices = 1;
  size_t row_bytes = 0, matrix_bytes = 0;
  MPS::DataType type = MPS::DataTypeInvalid;
};

class MatrixObject final : public MPS::TemporaryMatrix {
 public:
  NS::SharedPtr<MTL::Buffer> buffer;
  size_t offset = 0;
  MatrixLayout layout;
  TemporaryLife life;

  // The number at this place.
  Operand at(size_t matrix, size_t row, size_t column) const;
  void was_read() { life.read(buffer.get()); }
  const char* className() const override { return life.home ? "MPSTemporaryMatrix" : "MPSMatrix"; }
};

class VectorObject final : public MPS::TemporaryVector {
 public:
  NS::SharedPtr<MTL::Buffer> buffer;
  size_t offset = 0;
  size_t length = 0, vectors = 1, vector_bytes = 0;
  MPS::DataType type = MPS::DataTypeInvalid;
  TemporaryLife life;

  Operand at(size_t vector, size_t element) const;
  void was_read() { life.read(buffer.get()); }
  const char* className() const override { return life.home ? "MPSTemporaryVector" : "MPSVector"; }
};

// Null stays null.
inline MatrixObject* body(const MPS::Matrix* matrix) {
  return const_cast<MatrixObject*>(static_cast<const MatrixObject*>(matrix));
}
inline VectorObject* body(const MPS::Vector* vector) {
  return const_cast<VectorObject*>(static_cast<const VectorObject*>(vector));
}

class MatrixUnaryPart : public KernelPart {
 public:
  MTL::Origin source_origin = {0, 0, 0}, result_origin = {0, 0, 0};
  NS::UInteger batch_start = 0, batch_size = NS::UIntegerMax;
};

class MatrixBinaryPart : public KernelPart {
 public:
  MTL::Origin primary_origin = {0, 0, 0}, secondary_origin = {0, 0, 0}, result_origin = {0, 0, 0};
  NS::UInteger batch_start = 0, batch_size = NS::UIntegerMax;
};

}  // namespace metalloid::mps
