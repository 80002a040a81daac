#include <MetalPerformanceShaders/MPSMatrixFindTopK.hpp>
#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/encoding.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

class FindTopKPart : public MatrixUnaryPart {
 public:
  NS::UInteger rows = NS::UIntegerMax, columns = NS::UIntegerMax, index_offset = 0, count = 1;
};

namespace {

using FindTopKObject = Object<MPS::MatrixFindTopK, FindTopKPart>;

constexpr size_t most_values = 16;

struct Shape {
  uint32_t columns, count, index_offset;
  RowStrides source, indices, values;
};

void encode(Encoding& encoding, const FindTopKPart& self, const MPS::Matrix* input, const MPS::Matrix* index_matrix,
            const MPS::Matrix* value_matrix) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView source = arguments.matrix(input, self.source_origin, "inputMatrix");
  const MatrixView indices = arguments.matrix(index_matrix, self.result_origin, "resultIndexMatrix");
  const MatrixView values = arguments.matrix(value_matrix, self.result_origin, "resultValueMatrix");
  const size_t rows = std::min(self.rows, source.rows), columns = std::min(self.columns, source.columns);
  arguments.is_floating_point(source.type, "inputMatrix");
  arguments.is_of_type(values.type, source.type, "resultValueMatrix");
  arguments.require(indices.type == MPS::DataTypeUInt32, "resultIndexMatrix has the type {}; it must be UInt32",
                    name_of(indices.type));
  arguments.require(self.count >= 1 && self.count <= most_values, "numberOfTopKValues is {}; 1 to {} can be found",
                    self.count, most_values);
  arguments.require(self.count <= columns, "numberOfTopKValues is {}, and rows have {} numbers", self.count, columns);
  arguments.has_room(indices, rows, self.count, "resultIndexMatrix");
  arguments.has_room(values, rows, self.count, "resultValueMatrix");
  if (!encoding.check(arguments.status())) return;

  const Shape shape{uint32_t(columns), uint32_t(self.count), uint32_t(self.index_offset),
                    source.strides,    indices.strides,      values.strides};
  encoding.dispatch({fmt::format("find_top_k_{}", metal_name_of(source.type))},
                    MTL::Size(32, rows, std::min({source.matrices, indices.matrices, values.matrices})),
                    MTL::Size(32, 1, 1), source.first, indices.first, values.first, shape);
  source.object->was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

MatrixFindTopK* MatrixFindTopK::alloc() {
  return new FindTopKObject("MPSMatrixFindTopK");
}
MatrixFindTopK* MatrixFindTopK::init(MTL::Device* device, NS::UInteger numberOfTopKValues) {
  auto* self = part_of<FindTopKPart>(this);
  if (self) self->count = numberOfTopKValues;
  return init_kernel(this, self, device, "-[MPSMatrixFindTopK initWithDevice:numberOfTopKValues:]");
}

MPS_NUMBER(MatrixFindTopK, FindTopKPart, sourceRows, setSourceRows, rows)
MPS_NUMBER(MatrixFindTopK, FindTopKPart, sourceColumns, setSourceColumns, columns)
MPS_NUMBER(MatrixFindTopK, FindTopKPart, indexOffset, setIndexOffset, index_offset)
MPS_NUMBER(MatrixFindTopK, FindTopKPart, numberOfTopKValues, setNumberOfTopKValues, count)

void MatrixFindTopK::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix,
                            const Matrix* resultIndexMatrix, const Matrix* resultValueMatrix) {
  auto* self = part_of<FindTopKPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixFindTopK::encode"); encoding)
    metalloid::mps::encode(encoding, *self, inputMatrix, resultIndexMatrix, resultValueMatrix);
}

}  // namespace MPS
