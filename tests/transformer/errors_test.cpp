#include "backend_program.hpp"

namespace metalloid::transformer {
namespace {

class Errors : public BackendTest {
 protected:
  Tensor tensor(std::vector<size_t> shape, TensorType type = TensorType::f32) {
    return backend->tensor(type, std::move(shape));
  }
  std::string error() {
    const Status done = backend->finish();
    return done ? "" : done.error();
  }
};
INSTANTIATE_BACKEND_TEST(Errors);

TEST_P(Errors, NameTheOperationAndTheArgument) {
  backend->rmsnorm(tensor({2, 3}), tensor({4}), 1e-5f, tensor({2, 3}));
  EXPECT_EQ(error(), "rmsnorm: the weights of the norm are 4, and the rows of x have 3");
  backend->softmax(tensor({2, 3}), tensor({3, 2}));
  EXPECT_EQ(error(), "softmax: result has the shape [3, 2], and x has [2, 3]");
  backend->matmul_vec(tensor({4, 5}), tensor({6}), tensor({4}));
  EXPECT_EQ(error(), "matmul_vec: the rows of weights have 5 numbers, and 6 are needed, as in x");
  backend->matmul(tensor({2, 3}), tensor({4, 5}), tensor({2, 4}));
  EXPECT_EQ(error(), "matmul: weights have the shape [4, 5], and 3 numbers of x are to be multiplied with 5");
  backend->matmul(tensor({2, 3}), tensor({4, 3}), tensor({2, 4}, TensorType::f16));
  EXPECT_EQ(error(), "matmul: result is of type F16, and x is F32");
  backend->add(Tensor(), tensor({1}), tensor({1}));
  EXPECT_EQ(error(), "add: x is no tensor: it was never made, or is a view that does not fit");
  backend->silu(tensor({1}, TensorType::i32), tensor({1}));
  EXPECT_EQ(error(), "silu: x is of type I32, which this operation does not take here");
  backend->flash_attention(tensor({2, 3, 8}), tensor({9, 2, 8}), tensor({9, 2, 8}), 0, tensor({2, 3, 8}));
  EXPECT_EQ(error(), "flash_attention: 3 heads of queries cannot share 2 of keys evenly");
  backend->attention(tensor({2, 2, 8}), tensor({9, 2, 8}), tensor({9, 2, 8}), 8, tensor({2, 2, 8}));
  EXPECT_EQ(error(), "attention: keys have room for 9 tokens, and 10 are needed");
  backend->rope(tensor({1, 2, 8}), 0, tensor({5}), RopePairs::Halves);
  EXPECT_EQ(error(), "rope: frequencies are 5 for pairs of heads of 8 numbers");
  const Tensor x = tensor({4, 4});
  backend->matmul(x, tensor({4, 4}), x);
  EXPECT_EQ(error(), "matmul: the result overlaps x");
}

TEST_P(Errors, StopWhatFollowsUntilTheyAreAskedFor) {
  const Tensor x = of_floats({1, 2}, {2});
  backend->add(x, tensor({3}), x);
  backend->add(x, x, x);
  std::vector<float> numbers(2);
  EXPECT_FALSE(backend->read(x, numbers.data()));
  EXPECT_EQ(values(x), (std::vector<double>{1, 2}));
  EXPECT_EQ(error(), "");
}

TEST_P(Errors, OfTensorsThatCannotBe) {
  EXPECT_FALSE(tensor({SIZE_MAX, 3}));
  EXPECT_NE(error().find("tensor: there is no tensor of shape [18446744073709551615, 3]"), std::string::npos);
  EXPECT_FALSE(tensor({2, 31}, TensorType::q8_0));
  EXPECT_NE(error().find("no whole blocks of 32"), std::string::npos);
  EXPECT_FALSE(backend->wrap(TensorType::f32, {1}, nullptr));
  std::vector<char> bytes(9);
  const auto all = backend->wrap(TensorType::u8, {9}, bytes.data());
  const Tensor odd = all->view(1, TensorType::f32, {2});
  backend->silu(odd, tensor({2}));
  EXPECT_NE(error().find("resident()"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::transformer
