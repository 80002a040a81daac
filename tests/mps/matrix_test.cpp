// Matrices and vectors themselves: what can be described, and how long temporary ones live.
#include <type_traits>

#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

using MatricesTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatricesTest);

TEST_P(MatricesTest, AreRefusedWhereTheirSizeIsBeyondAllNumbers) {
  const auto buffer = NS::TransferPtr(device->newBuffer(64, MTL::ResourceStorageModeShared));
  const NS::UInteger many = NS::UInteger{1} << 40;
  auto* matrix = MPS::MatrixDescriptor::matrixDescriptor(many, many, 4 * many, MPS::DataTypeFloat32);
  EXPECT_EQ(MPS::Matrix::alloc()->init(buffer.get(), matrix), nullptr);
  EXPECT_EQ(MPS::Matrix::alloc()->init(device.get(), matrix), nullptr);
  auto* batch = MPS::MatrixDescriptor::matrixDescriptor(1, 1, many, 4, 4 * many, MPS::DataTypeFloat32);
  EXPECT_EQ(MPS::Matrix::alloc()->init(buffer.get(), batch), nullptr);
  auto* vector = MPS::VectorDescriptor::vectorDescriptor(NS::UInteger{1} << 62, MPS::DataTypeFloat32);
  EXPECT_EQ(MPS::Vector::alloc()->init(buffer.get(), vector), nullptr);
}

// Two matrices of 4 x 4 in one buffer, whose rows are 8 numbers from each other.
class OverlappingMatricesTest : public MatrixTest {
 protected:
  MPS::Matrix* matrix_at(size_t first) {
    return MPS::Matrix::alloc()
        ->init(buffer.get(), 4 * first, MPS::MatrixDescriptor::matrixDescriptor(4, 4, 32, MPS::DataTypeFloat32))
        ->autorelease();
  }
  // The error of writing to a matrix that begins there what is made of the one that begins at 16.
  template <class Kernel>
  std::string error_at(size_t first, Kernel* kernel) {
    buffer = NS::TransferPtr(device->newBuffer(1024, MTL::ResourceStorageModeShared));
    return run([&](MTL::CommandBuffer* commands) {
      if constexpr (std::is_same_v<Kernel, MPS::MatrixNeuron>)
        kernel->encode(commands, matrix_at(16), nullptr, matrix_at(first));
      else if constexpr (std::is_same_v<Kernel, MPS::MatrixDecompositionCholesky>)
        kernel->encode(commands, matrix_at(16), matrix_at(first), nullptr);
      else if constexpr (std::is_same_v<Kernel, MPS::MatrixCopy>)
        kernel->encode(commands, MPS::MatrixCopyDescriptor::descriptor(matrix_at(16), matrix_at(first), {0, 0, 0, 0}));
      else
        kernel->encode(commands, matrix_at(16), matrix_at(first));
    });
  }
  template <class Kernel>
  void check(Kernel* kernel, const char* error) {
    for (const size_t apart : {16, 20, 12, 44, 48}) EXPECT_EQ(error_at(apart, kernel), "") << apart;
    for (const size_t over : {17, 19, 13, 24, 8, 40})
      EXPECT_NE(error_at(over, kernel).find(error), std::string::npos) << over;
  }

  NS::SharedPtr<MTL::Buffer> buffer;
};
INSTANTIATE_MPS_TEST(OverlappingMatricesTest);

TEST_P(OverlappingMatricesTest, AreWrittenInPlaceOrBesideTheSource) {
  check(NS::TransferPtr(MPS::MatrixSoftMax::alloc()->init(device.get())).get(), "resultMatrix overlaps inputMatrix");
  check(NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get())).get(), "resultMatrix overlaps inputMatrix");
  check(NS::TransferPtr(MPS::MatrixDecompositionCholesky::alloc()->init(device.get(), true, 4)).get(),
        "resultMatrix overlaps sourceMatrix");
  check(NS::TransferPtr(MPS::MatrixCopy::alloc()->init(device.get(), 4, 4, false, false)).get(),
        "a destination matrix overlaps its source");
  const auto transposing = NS::TransferPtr(MPS::MatrixCopy::alloc()->init(device.get(), 4, 4, true, false));
  EXPECT_NE(error_at(16, transposing.get()).find("a destination matrix overlaps its source"), std::string::npos);
  EXPECT_EQ(error_at(20, transposing.get()), "");
}

class TemporaryMatricesTest : public MatrixTest {
 protected:
  void SetUp() override {
    MatrixTest::SetUp();
    kernel = NS::TransferPtr(MPS::MatrixSoftMax::alloc()->init(device.get()));
  }

  NS::SharedPtr<MPS::MatrixSoftMax> kernel;
  MPS::MatrixDescriptor* descriptor = MPS::MatrixDescriptor::matrixDescriptor(2, 3, 12, MPS::DataTypeFloat32);
};
INSTANTIATE_MPS_TEST(TemporaryMatricesTest);

TEST_P(TemporaryMatricesTest, AreReadAsOftenAsTheirReadCountSays) {
  const Numbers source = random_matrix({.rows = 2, .columns = 3}, -1, 1),
                result = random_matrix({.rows = 2, .columns = 3}, 0, 0);
  const auto read_twice = [&](NS::UInteger read_count) {
    return run([&](MTL::CommandBuffer* commands) {
      auto* between = MPS::TemporaryMatrix::temporaryMatrix(commands, descriptor);
      between->setReadCount(read_count);
      kernel->encode(commands, source.matrix(), between);
      kernel->encode(commands, between, result.matrix());
      kernel->encode(commands, between, result.matrix());
    });
  };
  EXPECT_EQ(read_twice(2), "");
  EXPECT_NE(read_twice(1).find("inputMatrix is temporary, and has been read as often as its readCount allowed"),
            std::string::npos);
}

TEST_P(TemporaryMatricesTest, LiveInOneCommandBuffer) {
  const Numbers result = random_matrix({.rows = 2, .columns = 3}, 0, 0);
  NS::SharedPtr<MPS::TemporaryMatrix> matrix;
  EXPECT_EQ(run([&](MTL::CommandBuffer* commands) {
              matrix = NS::RetainPtr(MPS::TemporaryMatrix::temporaryMatrix(commands, descriptor));
            }),
            "");
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, matrix.get(), result.matrix());
            }).find("inputMatrix is temporary, and of another command buffer"),
            std::string::npos);
  matrix->setReadCount(0);  // gives back what is gone already
}

}  // namespace
}  // namespace metalloid::mps
