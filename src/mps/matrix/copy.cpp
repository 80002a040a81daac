#include <MetalPerformanceShaders/MPSMatrixCombination.hpp>
#include <algorithm>
#include <cstring>

#include "foundation/array.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/encoding.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class MatrixCopyPart : public KernelPart {
 public:
  NS::UInteger rows = 0, columns = 0;
  bool sources_transposed = false, destinations_transposed = false;
};

namespace {

using MatrixCopyObject = Object<MPS::MatrixCopy, MatrixCopyPart>;

class MatrixCopyDescriptorObject final : public MPS::MatrixCopyDescriptor {
 public:
  struct Operation {
    NS::SharedPtr<MPS::Matrix> source, destination;
  };
  std::vector<Operation> operations;
  NS::SharedPtr<MTL::Buffer> offsets;
  size_t first_offset = 0;  // bytes
  bool has_own_offsets = false;

  const char* className() const override { return "MPSMatrixCopyDescriptor"; }
};

MatrixCopyDescriptorObject* body(const MPS::MatrixCopyDescriptor* descriptor) {
  return const_cast<MatrixCopyDescriptorObject*>(static_cast<const MatrixCopyDescriptorObject*>(descriptor));
}

struct Shape {
  uint32_t rows, columns;                // to be copied
  uint32_t source_rows, source_columns;  // that are there, as the copy counts them
  uint32_t destination_rows, destination_columns;
  uint64_t source_row, source_column, destination_row, destination_column;  // strides
};

// Numbers of one type are copied as bits; floating-point numbers of different types are converted.
std::string copy_function(MPS::DataType source, MPS::DataType destination) {
  if (source == destination) return fmt::format("matrix_copy_{}_bits", bits_of(source));
  return fmt::format("matrix_copy_{}_{}", metal_name_of(source), metal_name_of(destination));
}

struct Permutation {
  Operand indices;
  bool there = false;
};

Permutation permutation(Arguments& arguments, const MPS::Vector* indices, size_t offset, size_t count,
                        const char* name) {
  const VectorView view = arguments.optional_vector(indices, offset + count, name);
  if (!view) return {};
  arguments.require(view.type == MPS::DataTypeUInt32, "{} has the type {}; it must be UInt32", name,
                    name_of(view.type));
  return {view.first + offset * sizeof(uint32_t), true};
}

// Of what is copied, which may not be written where something else is still to be read.
void check_overlap(Arguments& arguments, const MatrixCopyPart& self, const MatrixView& source,
                   const MatrixView& destination, const MPS::MatrixCopyOffsets& offsets) {
  if (!arguments) return;
  const auto part = [&](const MatrixView& view, size_t row, size_t column, bool transposed) {
    if (transposed) std::swap(row, column);
    const size_t rows = transposed ? self.columns : self.rows, columns = transposed ? self.rows : self.columns;
    if (row >= view.rows || column >= view.columns) return MatrixPlace{};
    return MatrixPlace{view.first + bytes_of(view.type, row * view.strides.row + column),
                       std::min(rows, view.rows - row), bytes_of(view.type, std::min(columns, view.columns - column)),
                       bytes_of(view.type, view.strides.row), 0};
  };
  const MatrixPlace from = part(source, offsets.sourceRowOffset, offsets.sourceColumnOffset, self.sources_transposed);
  const MatrixPlace to =
      part(destination, offsets.destinationRowOffset, offsets.destinationColumnOffset, self.destinations_transposed);
  if (from.rows == 0 || to.rows == 0) return;
  const bool stays = from.first == to.first && from.row_stride == to.row_stride && source.type == destination.type &&
                     self.sources_transposed == self.destinations_transposed;
  arguments.require(stays || are_apart(from, to, 1), "a destination matrix overlaps its source");
}

void encode(Encoding& encoding, const MatrixCopyPart& self, const MPS::MatrixCopyDescriptor* descriptor,
            const MPS::Vector* row_indices, size_t row_offset, const MPS::Vector* column_indices,
            size_t column_offset) {
  Arguments arguments(encoding);
  arguments.require(descriptor != nullptr, "copyDescriptor is null");
  const Permutation rows = permutation(arguments, row_indices, row_offset, self.rows, "rowPermuteIndices");
  const Permutation columns =
      permutation(arguments, column_indices, column_offset, self.columns, "columnPermuteIndices");
  if (!encoding.check(arguments.status())) return;

  const MatrixCopyDescriptorObject& copies = *body(descriptor);
  for (size_t i = 0; i < copies.operations.size(); ++i) {
    const MatrixView source = arguments.matrix(copies.operations[i].source.get(), {0, 0, 0}, "a source matrix");
    const MatrixView destination =
        arguments.matrix(copies.operations[i].destination.get(), {0, 0, 0}, "a destination matrix");
    if (source.type != destination.type) {
      arguments.is_floating_point(source.type, "a source matrix whose destination has another type");
      arguments.is_floating_point(destination.type, "a destination matrix whose source has another type");
    }
    if (copies.has_own_offsets && !rows.there && !columns.there)
      check_overlap(arguments, self, source, destination,
                    static_cast<const MPS::MatrixCopyOffsets*>(copies.offsets->contents())[i]);
    if (!encoding.check(arguments.status())) return;
    Shape shape{uint32_t(self.rows),        uint32_t(self.columns),
                uint32_t(source.rows),      uint32_t(source.columns),
                uint32_t(destination.rows), uint32_t(destination.columns),
                source.strides.row,         1,
                destination.strides.row,    1};
    if (self.sources_transposed) {
      std::swap(shape.source_rows, shape.source_columns);
      std::swap(shape.source_row, shape.source_column);
    }
    if (self.destinations_transposed) {
      std::swap(shape.destination_rows, shape.destination_columns);
      std::swap(shape.destination_row, shape.destination_column);
    }
    encoding.dispatch({copy_function(source.type, destination.type), {rows.there, columns.there}},
                      MTL::Size(self.columns, self.rows, 1), threads_along_row(self.columns), source.first,
                      destination.first,
                      Operand{copies.offsets.get(), copies.first_offset + i * sizeof(MPS::MatrixCopyOffsets)},
                      rows.indices, columns.indices, shape);
    source.object->was_read();
  }
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MatrixCopyDescriptor* MatrixCopyDescriptor::alloc() {
  return new MatrixCopyDescriptorObject;
}

MatrixCopyDescriptor* MatrixCopyDescriptor::descriptor(const Matrix* sourceMatrix, const Matrix* destinationMatrix,
                                                       MatrixCopyOffsets offsets) {
  if (!sourceMatrix || !destinationMatrix) return nullptr;
  MatrixCopyDescriptor* descriptor = alloc()->init(sourceMatrix->device(), 1);
  if (!descriptor) return nullptr;
  descriptor->setCopyOperation(0, sourceMatrix, destinationMatrix, offsets);
  return foundation::autoreleased(descriptor);
}

MatrixCopyDescriptor* MatrixCopyDescriptor::init(MTL::Device* device, NS::UInteger count) {
  auto* self = body(this);
  if (!self) return nullptr;
  if (device && count)
    self->offsets =
        NS::TransferPtr(device->newBuffer(count * sizeof(MatrixCopyOffsets), MTL::ResourceStorageModeShared));
  if (!self->offsets) {
    foundation::report_misuse("-[MPSMatrixCopyDescriptor initWithDevice:count:]",
                              "device is null, or count is 0 or more than there is memory for");
    return foundation::failed_init(this);
  }
  self->has_own_offsets = true;
  self->operations.resize(count);
  return this;
}

MatrixCopyDescriptor* MatrixCopyDescriptor::init(const NS::Array* sourceMatrices, const NS::Array* destinationMatrices,
                                                 const Vector* offsets, NS::UInteger byteOffset) {
  auto* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call =
      "-[MPSMatrixCopyDescriptor initWithSourceMatrices:destinationMatrices:offsetVector:offset:]";
  const size_t count = sourceMatrices ? sourceMatrices->count() : 0;
  if (count == 0 || !destinationMatrices || destinationMatrices->count() != count) {
    foundation::report_misuse(call, "there must be as many destinations as sources, and at least one");
    return foundation::failed_init(this);
  }
  if (!offsets) {
    if (!init(foundation::element_of<Matrix>(sourceMatrices, 0)->device(), count)) return nullptr;  // which are 0
  } else if (offsets->dataType() != DataTypeUInt32 || byteOffset % 16 ||
             byteOffset > offsets->length() * sizeof(uint32_t) ||
             count * sizeof(MatrixCopyOffsets) > offsets->length() * sizeof(uint32_t) - byteOffset) {
    foundation::report_misuse(call, fmt::format("offsetVector must be UInt32 and have {} numbers from a multiple of 16 "
                                                "bytes on",
                                                4 * count));
    return foundation::failed_init(this);
  } else {
    self->offsets = NS::RetainPtr(offsets->data());
    self->first_offset = offsets->offset() + byteOffset;
    self->operations.resize(count);
  }
  for (size_t i = 0; i < count; ++i)
    self->operations[i] = {NS::RetainPtr(foundation::element_of<Matrix>(sourceMatrices, i)),
                           NS::RetainPtr(foundation::element_of<Matrix>(destinationMatrices, i))};
  return this;
}

void MatrixCopyDescriptor::setCopyOperation(NS::UInteger index, const Matrix* sourceMatrix,
                                            const Matrix* destinationMatrix, MatrixCopyOffsets offsets) {
  auto* self = body(this);
  if (!self) return;
  constexpr const char* call =
      "-[MPSMatrixCopyDescriptor setCopyOperationAtIndex:sourceMatrix:destinationMatrix:offsets:]";
  if (index >= self->operations.size())
    return foundation::report_misuse(
        call, fmt::format("index is {}, and there are {} copies", index, self->operations.size()));
  if (self->first_offset != 0 || !self->offsets->contents())
    return foundation::report_misuse(call, "the offsets of this descriptor are in a vector of the program's");
  self->operations[index] = {foundation::retained(sourceMatrix), foundation::retained(destinationMatrix)};
  static_cast<MatrixCopyOffsets*>(self->offsets->contents())[index] = offsets;
}

MatrixCopy* MatrixCopy::alloc() {
  return new MatrixCopyObject("MPSMatrixCopy");
}

MatrixCopy* MatrixCopy::init(MTL::Device* device, NS::UInteger copyRows, NS::UInteger copyColumns,
                             bool sourcesAreTransposed, bool destinationsAreTransposed) {
  auto* self = part_of<MatrixCopyPart>(this);
  if (self) {
    self->rows = copyRows;
    self->columns = copyColumns;
    self->sources_transposed = sourcesAreTransposed;
    self->destinations_transposed = destinationsAreTransposed;
  }
  return init_kernel(this, self, device,
                     "-[MPSMatrixCopy initWithDevice:copyRows:copyColumns:sourcesAreTransposed:"
                     "destinationsAreTransposed:]");
}

MPS_READONLY(MatrixCopy, MatrixCopyPart, NS::UInteger, copyRows, rows, (0))
MPS_READONLY(MatrixCopy, MatrixCopyPart, NS::UInteger, copyColumns, columns, (0))
MPS_READONLY(MatrixCopy, MatrixCopyPart, bool, sourcesAreTransposed, sources_transposed, (false))
MPS_READONLY(MatrixCopy, MatrixCopyPart, bool, destinationsAreTransposed, destinations_transposed, (false))

void MatrixCopy::encode(MTL::CommandBuffer* commandBuffer, const MatrixCopyDescriptor* copyDescriptor) {
  encode(commandBuffer, copyDescriptor, nullptr, 0, nullptr, 0);
}

void MatrixCopy::encode(MTL::CommandBuffer* commandBuffer, const MatrixCopyDescriptor* copyDescriptor,
                        const Vector* rowPermuteIndices, NS::UInteger rowPermuteOffset,
                        const Vector* columnPermuteIndices, NS::UInteger columnPermuteOffset) {
  auto* self = part_of<MatrixCopyPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixCopy::encode"); encoding)
    metalloid::mps::encode(encoding, *self, copyDescriptor, rowPermuteIndices, rowPermuteOffset, columnPermuteIndices,
                           columnPermuteOffset);
}

}  // namespace MPS
