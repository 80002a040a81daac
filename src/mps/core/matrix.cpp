#include "mps/core/matrix.hpp"

#include <fmt/format.h>

#include <metalloid/result.hpp>

#include "foundation/misuse.hpp"
#include "mps/core/data_type.hpp"

namespace metalloid::mps {

void TemporaryLife::set_read_count(NS::UInteger count, MTL::Buffer* memory) {
  if (!home || read_count == 0) return;
  read_count = count;
  if (count == 0) give_back(*home, memory);
}

void TemporaryLife::read(MTL::Buffer* memory) {
  if (home && read_count > 0) set_read_count(read_count - 1, memory);
}

Operand MatrixObject::at(size_t matrix, size_t row, size_t column) const {
  return {buffer.get(),
          offset + matrix * layout.matrix_bytes + row * layout.row_bytes + bits_of(layout.type) * column / 8};
}

Operand VectorObject::at(size_t vector, size_t element) const {
  return {buffer.get(), offset + vector * vector_bytes + bits_of(type) * element / 8};
}

namespace {

class MatrixDescriptorObject final : public MPS::MatrixDescriptor {
 public:
  MatrixLayout layout;
  const char* className() const override { return "MPSMatrixDescriptor"; }
};

class VectorDescriptorObject final : public MPS::VectorDescriptor {
 public:
  size_t length = 0, vectors = 1, vector_bytes = 0;
  MPS::DataType type = MPS::DataTypeInvalid;
  const char* className() const override { return "MPSVectorDescriptor"; }
};

MatrixDescriptorObject* body(const MPS::MatrixDescriptor* descriptor) {
  return const_cast<MatrixDescriptorObject*>(static_cast<const MatrixDescriptorObject*>(descriptor));
}
VectorDescriptorObject* body(const MPS::VectorDescriptor* descriptor) {
  return const_cast<VectorDescriptorObject*>(static_cast<const VectorDescriptorObject*>(descriptor));
}

constexpr size_t row_alignment = 16;  // bytes

size_t best_row_bytes(size_t columns, MPS::DataType type) {
  return (bytes_of(type, columns) + row_alignment - 1) / row_alignment * row_alignment;
}

// Bytes from a matrix's first to its last; rows need not be filled up.
size_t total_bytes(const MatrixLayout& layout) {
  if (layout.rows == 0 || layout.columns == 0 || layout.matrices == 0) return 0;
  return plus(plus(times(layout.matrices - 1, layout.matrix_bytes), times(layout.rows - 1, layout.row_bytes)),
              bytes_of(layout.type, layout.columns));
}

Status check(const MatrixLayout& layout) {
  if (!is_known(layout.type)) return Error{fmt::format("dataType is no type of MPS ({})", name_of(layout.type))};
  if (layout.rows == 0 || layout.columns == 0 || layout.matrices == 0)
    return Error{fmt::format("rows ({}), columns ({}) and matrices ({}) must not be 0", layout.rows, layout.columns,
                             layout.matrices)};
  const size_t row = bytes_of(layout.type, layout.columns);
  if (layout.row_bytes < row)
    return Error{fmt::format("rowBytes ({}) is less than the {} bytes of {} columns of {}", layout.row_bytes, row,
                             layout.columns, name_of(layout.type))};
  if (const size_t number = bits_of(layout.type) / 8; number && layout.row_bytes % number)
    return Error{fmt::format("rowBytes ({}) is not a multiple of the {} bytes of a {}", layout.row_bytes, number,
                             name_of(layout.type))};
  if (layout.matrices > 1 && layout.matrix_bytes < times(layout.rows, layout.row_bytes))
    return Error{fmt::format("matrixBytes ({}) is less than {} rows of {} bytes", layout.matrix_bytes, layout.rows,
                             layout.row_bytes)};
  return success();
}

Status check_place(const MTL::Buffer* buffer, size_t offset, size_t bytes, MPS::DataType type) {
  if (!buffer) return Error{"buffer is null"};
  if (const size_t number = bits_of(type) / 8; number && offset % number)
    return Error{fmt::format("offset ({}) is not a multiple of the {} bytes of a {}", offset, number, name_of(type))};
  if (offset > buffer->length() || bytes > buffer->length() - offset)
    return Error{
        fmt::format("buffer has {} bytes, and {} from offset {} are described", buffer->length(), bytes, offset)};
  return success();
}

template <class Object>
Object* refused(Object* object, const char* call, const std::string& reason) {
  foundation::report_misuse(call, reason);
  return foundation::failed_init(object);
}

MPS::Matrix* init(MatrixObject* self, NS::SharedPtr<MTL::Buffer> buffer, size_t offset, const MatrixLayout& layout) {
  if (const Status status = check_place(buffer.get(), offset, total_bytes(layout), layout.type); !status)
    return refused(self, "-[MPSMatrix initWithBuffer:offset:descriptor:]", status.error());
  self->buffer = std::move(buffer);
  self->offset = offset;
  self->layout = layout;
  return self;
}

Status check(const VectorDescriptorObject& vectors) {
  if (!is_known(vectors.type)) return Error{fmt::format("dataType is no type of MPS ({})", name_of(vectors.type))};
  if (vectors.length == 0 || vectors.vectors == 0)
    return Error{fmt::format("length ({}) and vectors ({}) must not be 0", vectors.length, vectors.vectors)};
  if (vectors.vectors > 1 && vectors.vector_bytes < bytes_of(vectors.type, vectors.length))
    return Error{fmt::format("vectorBytes ({}) is less than the {} bytes of {} numbers", vectors.vector_bytes,
                             bytes_of(vectors.type, vectors.length), vectors.length)};
  return success();
}

size_t total_bytes(const VectorDescriptorObject& vectors) {
  return plus(times(vectors.vectors - 1, vectors.vector_bytes), bytes_of(vectors.type, vectors.length));
}

MPS::Vector* init(VectorObject* self, NS::SharedPtr<MTL::Buffer> buffer, size_t offset,
                  const VectorDescriptorObject& vectors) {
  if (const Status status = check_place(buffer.get(), offset, total_bytes(vectors), vectors.type); !status)
    return refused(self, "-[MPSVector initWithBuffer:offset:descriptor:]", status.error());
  self->buffer = std::move(buffer);
  self->offset = offset;
  self->length = vectors.length;
  self->vectors = vectors.vectors;
  self->vector_bytes = vectors.vector_bytes;
  self->type = vectors.type;
  return self;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MatrixDescriptor* MatrixDescriptor::matrixDescriptor(NS::UInteger rows, NS::UInteger columns, NS::UInteger rowBytes,
                                                     DataType dataType) {
  return matrixDescriptor(rows, columns, 1, rowBytes, rows * rowBytes, dataType);
}

MatrixDescriptor* MatrixDescriptor::matrixDescriptor(NS::UInteger rows, NS::UInteger columns, NS::UInteger matrices,
                                                     NS::UInteger rowBytes, NS::UInteger matrixBytes,
                                                     DataType dataType) {
  auto* descriptor = new MatrixDescriptorObject;
  descriptor->layout = {rows, columns, matrices, rowBytes, matrixBytes, dataType};
  return foundation::autoreleased(static_cast<MatrixDescriptor*>(descriptor));
}

size_t MatrixDescriptor::rowBytesForColumns(NS::UInteger columns, DataType dataType) {
  return best_row_bytes(columns, dataType);
}

size_t MatrixDescriptor::rowBytesFromColumns(NS::UInteger columns, DataType dataType) {
  return best_row_bytes(columns, dataType);
}

NS::UInteger MatrixDescriptor::rows() const {
  const auto* self = body(this);
  return self ? self->layout.rows : 0;
}
void MatrixDescriptor::setRows(NS::UInteger rows) {
  if (auto* self = body(this)) self->layout.rows = rows;
}
NS::UInteger MatrixDescriptor::columns() const {
  const auto* self = body(this);
  return self ? self->layout.columns : 0;
}
void MatrixDescriptor::setColumns(NS::UInteger columns) {
  if (auto* self = body(this)) self->layout.columns = columns;
}
NS::UInteger MatrixDescriptor::matrices() const {
  const auto* self = body(this);
  return self ? self->layout.matrices : 0;
}
DataType MatrixDescriptor::dataType() const {
  const auto* self = body(this);
  return self ? self->layout.type : DataTypeInvalid;
}
void MatrixDescriptor::setDataType(DataType dataType) {
  if (auto* self = body(this)) self->layout.type = dataType;
}
NS::UInteger MatrixDescriptor::rowBytes() const {
  const auto* self = body(this);
  return self ? self->layout.row_bytes : 0;
}
void MatrixDescriptor::setRowBytes(NS::UInteger rowBytes) {
  if (auto* self = body(this)) self->layout.row_bytes = rowBytes;
}
NS::UInteger MatrixDescriptor::matrixBytes() const {
  const auto* self = body(this);
  return self ? self->layout.matrix_bytes : 0;
}

VectorDescriptor* VectorDescriptor::vectorDescriptor(NS::UInteger length, DataType dataType) {
  return vectorDescriptor(length, 1, bytes_of(dataType, length), dataType);
}

VectorDescriptor* VectorDescriptor::vectorDescriptor(NS::UInteger length, NS::UInteger vectors,
                                                     NS::UInteger vectorBytes, DataType dataType) {
  auto* descriptor = new VectorDescriptorObject;
  descriptor->length = length;
  descriptor->vectors = vectors;
  descriptor->vector_bytes = vectorBytes;
  descriptor->type = dataType;
  return foundation::autoreleased(static_cast<VectorDescriptor*>(descriptor));
}

size_t VectorDescriptor::vectorBytesForLength(NS::UInteger length, DataType dataType) {
  return best_row_bytes(length, dataType);
}

NS::UInteger VectorDescriptor::length() const {
  const auto* self = body(this);
  return self ? self->length : 0;
}
void VectorDescriptor::setLength(NS::UInteger length) {
  if (auto* self = body(this)) self->length = length;
}
NS::UInteger VectorDescriptor::vectors() const {
  const auto* self = body(this);
  return self ? self->vectors : 0;
}
DataType VectorDescriptor::dataType() const {
  const auto* self = body(this);
  return self ? self->type : DataTypeInvalid;
}
void VectorDescriptor::setDataType(DataType dataType) {
  if (auto* self = body(this)) self->type = dataType;
}
NS::UInteger VectorDescriptor::vectorBytes() const {
  const auto* self = body(this);
  return self ? self->vector_bytes : 0;
}

Matrix* Matrix::alloc() {
  return new MatrixObject;
}

Matrix* Matrix::init(const MTL::Buffer* buffer, const MatrixDescriptor* descriptor) {
  return init(buffer, 0, descriptor);
}

Matrix* Matrix::init(const MTL::Buffer* buffer, NS::UInteger offset, const MatrixDescriptor* descriptor) {
  MatrixObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSMatrix initWithBuffer:offset:descriptor:]";
  if (!descriptor) return refused(self, call, "descriptor is null");
  if (const Status status = check(body(descriptor)->layout); !status) return refused(self, call, status.error());
  return mps::init(self, foundation::retained(buffer), offset, body(descriptor)->layout);
}

Matrix* Matrix::init(MTL::Device* device, const MatrixDescriptor* descriptor) {
  MatrixObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSMatrix initWithDevice:descriptor:]";
  if (!device) return refused(self, call, "device is null");
  if (!descriptor) return refused(self, call, "descriptor is null");
  const MatrixLayout& layout = body(descriptor)->layout;
  if (const Status status = check(layout); !status) return refused(self, call, status.error());
  auto buffer = NS::TransferPtr(device->newBuffer(total_bytes(layout), MTL::ResourceStorageModeShared));
  if (!buffer) return refused(self, call, fmt::format("there is no memory for {} bytes", total_bytes(layout)));
  return mps::init(self, std::move(buffer), 0, layout);
}

MTL::Device* Matrix::device() const {
  const auto* self = body(this);
  return self ? self->buffer->device() : nullptr;
}
NS::UInteger Matrix::rows() const {
  const auto* self = body(this);
  return self ? self->layout.rows : 0;
}
NS::UInteger Matrix::columns() const {
  const auto* self = body(this);
  return self ? self->layout.columns : 0;
}
NS::UInteger Matrix::matrices() const {
  const auto* self = body(this);
  return self ? self->layout.matrices : 0;
}
DataType Matrix::dataType() const {
  const auto* self = body(this);
  return self ? self->layout.type : DataTypeInvalid;
}
NS::UInteger Matrix::rowBytes() const {
  const auto* self = body(this);
  return self ? self->layout.row_bytes : 0;
}
NS::UInteger Matrix::matrixBytes() const {
  const auto* self = body(this);
  return self ? self->layout.matrix_bytes : 0;
}
NS::UInteger Matrix::offset() const {
  const auto* self = body(this);
  return self ? self->offset : 0;
}
MTL::Buffer* Matrix::data() const {
  const auto* self = body(this);
  return self ? self->buffer.get() : nullptr;
}

// The host sees what completed command buffers wrote without this.
void Matrix::synchronize(MTL::CommandBuffer*) {}

NS::UInteger Matrix::resourceSize() const {
  const auto* self = body(this);
  return self ? total_bytes(self->layout) : 0;
}

Vector* Vector::alloc() {
  return new VectorObject;
}

Vector* Vector::init(const MTL::Buffer* buffer, const VectorDescriptor* descriptor) {
  return init(buffer, 0, descriptor);
}

Vector* Vector::init(const MTL::Buffer* buffer, NS::UInteger offset, const VectorDescriptor* descriptor) {
  VectorObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSVector initWithBuffer:offset:descriptor:]";
  if (!descriptor) return refused(self, call, "descriptor is null");
  if (const Status status = check(*body(descriptor)); !status) return refused(self, call, status.error());
  return mps::init(self, foundation::retained(buffer), offset, *body(descriptor));
}

Vector* Vector::init(MTL::Device* device, const VectorDescriptor* descriptor) {
  VectorObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSVector initWithDevice:descriptor:]";
  if (!device) return refused(self, call, "device is null");
  if (!descriptor) return refused(self, call, "descriptor is null");
  if (const Status status = check(*body(descriptor)); !status) return refused(self, call, status.error());
  const size_t bytes = total_bytes(*body(descriptor));
  auto buffer = NS::TransferPtr(device->newBuffer(bytes, MTL::ResourceStorageModeShared));
  if (!buffer) return refused(self, call, fmt::format("there is no memory for {} bytes", bytes));
  return mps::init(self, std::move(buffer), 0, *body(descriptor));
}

MTL::Device* Vector::device() const {
  const auto* self = body(this);
  return self ? self->buffer->device() : nullptr;
}
NS::UInteger Vector::length() const {
  const auto* self = body(this);
  return self ? self->length : 0;
}
NS::UInteger Vector::vectors() const {
  const auto* self = body(this);
  return self ? self->vectors : 0;
}
DataType Vector::dataType() const {
  const auto* self = body(this);
  return self ? self->type : DataTypeInvalid;
}
NS::UInteger Vector::vectorBytes() const {
  const auto* self = body(this);
  return self ? self->vector_bytes : 0;
}
NS::UInteger Vector::offset() const {
  const auto* self = body(this);
  return self ? self->offset : 0;
}
MTL::Buffer* Vector::data() const {
  const auto* self = body(this);
  return self ? self->buffer.get() : nullptr;
}

void Vector::synchronize(MTL::CommandBuffer*) {}

NS::UInteger Vector::resourceSize() const {
  const auto* self = body(this);
  return self ? (self->vectors - 1) * self->vector_bytes + bytes_of(self->type, self->length) : 0;
}

TemporaryMatrix* TemporaryMatrix::temporaryMatrix(MTL::CommandBuffer* commandBuffer,
                                                  const MatrixDescriptor* descriptor) {
  auto* self = new MatrixObject;
  constexpr const char* call = "+[MPSTemporaryMatrix temporaryMatrixWithCommandBuffer:matrixDescriptor:]";
  if (!commandBuffer) return refused(self, call, "commandBuffer is null");
  if (!descriptor) return refused(self, call, "descriptor is null");
  const MatrixLayout& layout = body(descriptor)->layout;
  if (const Status status = check(layout); !status) return refused(self, call, status.error());
  MTL::Buffer* buffer = temporary_buffer(commandBuffer, total_bytes(layout));
  if (!buffer) return refused(self, call, fmt::format("there is no memory for {} bytes", total_bytes(layout)));
  self->life.home = temporary_home(commandBuffer);
  mps::init(self, NS::RetainPtr(buffer), 0, layout);
  return foundation::autoreleased(static_cast<TemporaryMatrix*>(self));
}

// Memory is pooled: there is nothing to prepare.
void TemporaryMatrix::prefetchStorage(MTL::CommandBuffer*, const NS::Array*) {}

NS::UInteger TemporaryMatrix::readCount() const {
  const auto* self = body(this);
  return self ? self->life.read_count : 0;
}
void TemporaryMatrix::setReadCount(NS::UInteger readCount) {
  if (auto* self = body(this)) self->life.set_read_count(readCount, self->buffer.get());
}

TemporaryVector* TemporaryVector::temporaryVector(MTL::CommandBuffer* commandBuffer,
                                                  const VectorDescriptor* descriptor) {
  auto* self = new VectorObject;
  constexpr const char* call = "+[MPSTemporaryVector temporaryVectorWithCommandBuffer:descriptor:]";
  if (!commandBuffer) return refused(self, call, "commandBuffer is null");
  if (!descriptor) return refused(self, call, "descriptor is null");
  if (const Status status = check(*body(descriptor)); !status) return refused(self, call, status.error());
  const size_t bytes = total_bytes(*body(descriptor));
  MTL::Buffer* buffer = temporary_buffer(commandBuffer, bytes);
  if (!buffer) return refused(self, call, fmt::format("there is no memory for {} bytes", bytes));
  self->life.home = temporary_home(commandBuffer);
  mps::init(self, NS::RetainPtr(buffer), 0, *body(descriptor));
  return foundation::autoreleased(static_cast<TemporaryVector*>(self));
}

void TemporaryVector::prefetchStorage(MTL::CommandBuffer*, const NS::Array*) {}

NS::UInteger TemporaryVector::readCount() const {
  const auto* self = body(this);
  return self ? self->life.read_count : 0;
}
void TemporaryVector::setReadCount(NS::UInteger readCount) {
  if (auto* self = body(this)) self->life.set_read_count(readCount, self->buffer.get());
}

}  // namespace MPS
