// Matrices for tests, whose rows and whose first number lie where nobody would expect them.
#pragma once

#include "mps_program.hpp"

namespace metalloid::mps {

struct MatrixShape {
  size_t rows = 1, columns = 1, matrices = 1;
  MPS::DataType type = MPS::DataTypeFloat32;
  size_t padding = 3;  // numbers between rows
  size_t offset = 5;   // numbers before the first
};

class Numbers {
 public:
  Numbers(MTL::Device* device, const MatrixShape& shape) : shape_(shape) {
    const size_t number = (shape.type & 0xffff) / 8, row = (shape.columns + shape.padding) * number;
    buffer_ = NS::TransferPtr(
        device->newBuffer(shape.offset * number + shape.matrices * shape.rows * row, MTL::ResourceStorageModeShared));
    matrix_ = NS::TransferPtr(
        MPS::Matrix::alloc()->init(buffer_.get(), shape.offset * number,
                                   MPS::MatrixDescriptor::matrixDescriptor(shape.rows, shape.columns, shape.matrices,
                                                                           row, shape.rows * row, shape.type)));
  }

  MPS::Matrix* matrix() const { return matrix_.get(); }
  const MatrixShape& shape() const { return shape_; }
  double at(size_t row, size_t column, size_t matrix = 0) const {
    return number_at(buffer_->contents(), index(row, column, matrix), shape_.type);
  }
  void set(size_t row, size_t column, double value, size_t matrix = 0) {
    set_number(buffer_->contents(), index(row, column, matrix), shape_.type, value);
  }

 private:
  size_t index(size_t row, size_t column, size_t matrix) const {
    return shape_.offset + (matrix * shape_.rows + row) * (shape_.columns + shape_.padding) + column;
  }

  MatrixShape shape_;
  NS::SharedPtr<MTL::Buffer> buffer_;
  NS::SharedPtr<MPS::Matrix> matrix_;
};

// The first row of a matrix as a vector.
inline NS::SharedPtr<MPS::Vector> vector_of(const Numbers& numbers) {
  const MPS::Matrix* matrix = numbers.matrix();
  return NS::TransferPtr(
      MPS::Vector::alloc()->init(matrix->data(), matrix->offset(),
                                 MPS::VectorDescriptor::vectorDescriptor(matrix->columns(), matrix->dataType())));
}

class MatrixTest : public MpsTest {
 protected:
  Numbers random_matrix(const MatrixShape& shape, double low, double high) {
    Numbers numbers(device.get(), shape);
    std::uniform_real_distribution<double> distribution(low, std::nextafter(high, high + 1));
    for (size_t matrix = 0; matrix < shape.matrices; ++matrix)
      for (size_t row = 0; row < shape.rows; ++row)
        for (size_t column = 0; column < shape.columns; ++column)
          numbers.set(row, column, low == high ? low : distribution(random), matrix);
    return numbers;
  }
};

}  // namespace metalloid::mps
