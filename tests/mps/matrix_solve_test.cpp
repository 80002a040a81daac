#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

class MatrixSolveTest : public MatrixTest {
 protected:
  static constexpr size_t matrices = 2, origin = 1;

  // Largest on the diagonal, so that solutions are about as exact as the numbers.
  Numbers well_conditioned(size_t order) {
    Numbers matrix = random_matrix({.rows = order + origin, .columns = order + origin, .matrices = matrices}, -1, 1);
    for (size_t i = 0; i < matrices; ++i)
      for (size_t k = 0; k < order; ++k)
        matrix.set(k + origin, k + origin, double(order) + matrix.at(k + origin, k + origin, i), i);
    return matrix;
  }
  Numbers random_sides(size_t rows, size_t columns) {
    return random_matrix({.rows = rows + origin, .columns = columns + origin, .matrices = matrices}, -1, 1);
  }

  // That sum over i of coefficient(row, i) times x(i, column) is what the right-hand side has there. Coefficients are
  // up to the order in size; each sum errs by a few roundings.
  template <class Coefficient, class X, class B>
  void check(size_t order, size_t sides, Coefficient coefficient, X x, B b) {
    for (size_t row = 0; row < order; ++row)
      for (size_t side = 0; side < sides; ++side) {
        double sum = 0, sizes = 0;
        for (size_t i = 0; i < order; ++i) {
          sum += coefficient(row, i) * x(i, side);
          sizes += std::abs(coefficient(row, i) * x(i, side));
        }
        ASSERT_NEAR(sum, b(row, side), 0x1p-22 * double(order + 8) * (sizes + std::abs(b(row, side))))
            << "order " << order << ", row " << row << ", side " << side;
      }
  }

  template <class Kernel>
  void set_origins(Kernel* kernel) {
    kernel->setPrimarySourceMatrixOrigin(MTL::Origin(origin, origin, 0));
    kernel->setSecondarySourceMatrixOrigin(MTL::Origin(origin, origin, 0));
    kernel->setResultMatrixOrigin(MTL::Origin(origin, origin, 0));
  }
};
INSTANTIATE_MPS_TEST(MatrixSolveTest);

TEST_P(MatrixSolveTest, SolvesTriangularSystemsOfEveryKind) {
  for (const size_t order : {1, 5, 40})
    for (unsigned options = 0; options < 16; ++options) {
      const bool right = options & 1, upper = options & 2, transpose = options & 4, unit = options & 8;
      const size_t sides = order == 5 ? 35 : 3;
      Numbers a = well_conditioned(order);
      if (unit)  // what is not on the diagonal has to be small then
        for (size_t m = 0; m < matrices; ++m)
          for (size_t row = 0; row < order; ++row)
            for (size_t column = 0; column < order; ++column)
              a.set(row + origin, column + origin, a.at(row + origin, column + origin, m) / double(order), m);
      const Numbers b = right ? random_sides(sides, order) : random_sides(order, sides);
      Numbers x = right ? random_sides(sides, order) : random_sides(order, sides);
      const double before = x.at(0, 0);
      const auto kernel = NS::TransferPtr(
          MPS::MatrixSolveTriangular::alloc()->init(device.get(), right, upper, transpose, unit, order, sides, 1.5));
      set_origins(kernel.get());
      ASSERT_EQ(
          run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, a.matrix(), b.matrix(), x.matrix()); }), "");
      for (size_t m = 0; m < matrices; ++m) {
        const auto triangle = [&](size_t row, size_t column) -> double {
          if (row == column && unit) return 1;
          if (upper ? row > column : row < column) return 0;
          return a.at(row + origin, column + origin, m);
        };
        check(
            order, sides,
            [&](size_t row, size_t column) {
              return transpose != right ? triangle(column, row) : triangle(row, column);
            },
            [&](size_t i, size_t side) {
              return right ? x.at(side + origin, i + origin, m) : x.at(i + origin, side + origin, m);
            },
            [&](size_t i, size_t side) {
              return 1.5 * (right ? b.at(side + origin, i + origin, m) : b.at(i + origin, side + origin, m));
            });
      }
      ASSERT_EQ(x.at(0, 0), before) << "outside of the solution";
    }
}

TEST_P(MatrixSolveTest, SolvesWithALUDecomposition) {
  for (const size_t order : {1, 6, 40})
    for (const bool transpose : {false, true})
      for (const bool in_place : {false, true}) {
        const size_t sides = 5;
        Numbers a = well_conditioned(order);
        // Rows the other way round, so that pivots matter.
        for (size_t m = 0; m < matrices; ++m)
          for (size_t row = 0; row < order / 2; ++row)
            for (size_t column = 0; column < order; ++column) {
              const double value = a.at(row + origin, column + origin, m);
              a.set(row + origin, column + origin, a.at(order - 1 - row + origin, column + origin, m), m);
              a.set(order - 1 - row + origin, column + origin, value, m);
            }
        const Numbers b = random_sides(order, sides);
        Numbers x = random_sides(order, sides);
        for (size_t m = 0; m < matrices; ++m)
          for (size_t row = 0; in_place && row < order; ++row)
            for (size_t side = 0; side < sides; ++side)
              x.set(row + origin, side + origin, b.at(row + origin, side + origin, m), m);
        const Numbers factors =
            random_matrix({.rows = order + origin, .columns = order + origin, .matrices = matrices}, 0, 0);
        const Numbers pivots =
            random_matrix({.rows = 1, .columns = order, .matrices = matrices, .type = MPS::DataTypeUInt32}, 0, 0);
        const auto decomposition =
            NS::TransferPtr(MPS::MatrixDecompositionLU::alloc()->init(device.get(), order, order));
        decomposition->setSourceMatrixOrigin(MTL::Origin(origin, origin, 0));
        decomposition->setResultMatrixOrigin(MTL::Origin(origin, origin, 0));
        const auto kernel = NS::TransferPtr(MPS::MatrixSolveLU::alloc()->init(device.get(), transpose, order, sides));
        set_origins(kernel.get());
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    decomposition->encode(commands, a.matrix(), factors.matrix(), pivots.matrix(), nullptr);
                    kernel->encode(commands, factors.matrix(), in_place ? x.matrix() : b.matrix(), pivots.matrix(),
                                   x.matrix());
                  }),
                  "");
        for (size_t m = 0; m < matrices; ++m)
          check(
              order, sides,
              [&](size_t row, size_t column) {
                return transpose ? a.at(column + origin, row + origin, m) : a.at(row + origin, column + origin, m);
              },
              [&](size_t i, size_t side) { return x.at(i + origin, side + origin, m); },
              [&](size_t i, size_t side) { return b.at(i + origin, side + origin, m); });
      }
}

TEST_P(MatrixSolveTest, SolvesWithACholeskyDecomposition) {
  for (const size_t order : {1, 6, 40})
    for (const bool upper : {false, true}) {
      const size_t sides = 4;
      Numbers a = well_conditioned(order);
      for (size_t m = 0; m < matrices; ++m)
        for (size_t row = 0; row < order; ++row)
          for (size_t column = 0; column < row; ++column)
            a.set(row + origin, column + origin, a.at(column + origin, row + origin, m), m);
      const Numbers b = random_sides(order, sides), x = random_sides(order, sides);
      const Numbers factor =
          random_matrix({.rows = order + origin, .columns = order + origin, .matrices = matrices}, NAN, NAN);
      const auto decomposition =
          NS::TransferPtr(MPS::MatrixDecompositionCholesky::alloc()->init(device.get(), !upper, order));
      decomposition->setSourceMatrixOrigin(MTL::Origin(origin, origin, 0));
      decomposition->setResultMatrixOrigin(MTL::Origin(origin, origin, 0));
      const auto kernel = NS::TransferPtr(MPS::MatrixSolveCholesky::alloc()->init(device.get(), upper, order, sides));
      set_origins(kernel.get());
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  decomposition->encode(commands, a.matrix(), factor.matrix(), nullptr);
                  kernel->encode(commands, factor.matrix(), b.matrix(), x.matrix());
                }),
                "");
      for (size_t m = 0; m < matrices; ++m)
        check(
            order, sides, [&](size_t row, size_t column) { return a.at(row + origin, column + origin, m); },
            [&](size_t i, size_t side) { return x.at(i + origin, side + origin, m); },
            [&](size_t i, size_t side) { return b.at(i + origin, side + origin, m); });
    }
}

TEST_P(MatrixSolveTest, RefusesWhatDoesNotFitAndNamesTheArgument) {
  EXPECT_EQ(MPS::MatrixSolveLU::alloc()->init(device.get(), false, 0, 1), nullptr);
  const Numbers a = well_conditioned(4), b = random_sides(4, 2), few = random_matrix({.rows = 3, .columns = 2}, 0, 0);
  const Numbers half = random_matrix({.rows = 4, .columns = 4, .type = MPS::DataTypeFloat16}, -1, 1);
  const auto kernel = NS::TransferPtr(MPS::MatrixSolveCholesky::alloc()->init(device.get(), false, 4, 2));
  const auto error = [&](const Numbers& matrix, const Numbers& sides, const Numbers& solution) {
    return run([&](MTL::CommandBuffer* commands) {
      kernel->encode(commands, matrix.matrix(), sides.matrix(), solution.matrix());
    });
  };
  EXPECT_NE(error(half, b, b).find("sourceMatrix has the type Float16"), std::string::npos);
  EXPECT_NE(error(a, few, b).find("rightHandSideMatrix has 3 rows"), std::string::npos);
  EXPECT_NE(error(a, b, few).find("solutionMatrix has 3 rows"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps
