// Where kernels work in their matrices.
#include "mps/core/matrix.hpp"
#include "mps/core/properties.hpp"

namespace MPS {

MPS_ORIGIN(MatrixUnaryKernel, MatrixUnaryPart, sourceMatrixOrigin, setSourceMatrixOrigin, source_origin)
MPS_ORIGIN(MatrixUnaryKernel, MatrixUnaryPart, resultMatrixOrigin, setResultMatrixOrigin, result_origin)
MPS_NUMBER(MatrixUnaryKernel, MatrixUnaryPart, batchStart, setBatchStart, batch_start)
MPS_NUMBER(MatrixUnaryKernel, MatrixUnaryPart, batchSize, setBatchSize, batch_size)

MPS_ORIGIN(MatrixBinaryKernel, MatrixBinaryPart, primarySourceMatrixOrigin, setPrimarySourceMatrixOrigin,
           primary_origin)
MPS_ORIGIN(MatrixBinaryKernel, MatrixBinaryPart, secondarySourceMatrixOrigin, setSecondarySourceMatrixOrigin,
           secondary_origin)
MPS_ORIGIN(MatrixBinaryKernel, MatrixBinaryPart, resultMatrixOrigin, setResultMatrixOrigin, result_origin)
MPS_NUMBER(MatrixBinaryKernel, MatrixBinaryPart, batchStart, setBatchStart, batch_start)
MPS_NUMBER(MatrixBinaryKernel, MatrixBinaryPart, batchSize, setBatchSize, batch_size)

}  // namespace MPS
