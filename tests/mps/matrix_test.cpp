// Matrices and vectors themselves: what can be described, and how long temporary ones live.
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
