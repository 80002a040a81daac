#include <cstdlib>

#include "backend_program.hpp"

namespace metalloid::transformer {
namespace {

using Tensors = BackendTest;
INSTANTIATE_BACKEND_TEST(Tensors);

TEST_P(Tensors, OverHostMemoryAreThatMemory) {
  for (const size_t before : {0, 1, 1024, 5000}) {  // at a page's start, and anywhere in it
    std::vector<float> numbers(before + 70000, 1);
    const auto x = backend->wrap(TensorType::f32, {70000}, numbers.data() + before);
    ASSERT_TRUE(x) << x.error();
    backend->add(*x, *x, *x);
    ASSERT_TRUE(backend->finish());
    EXPECT_EQ(numbers[before], 2);
    EXPECT_EQ(numbers.back(), 2);
    EXPECT_EQ(before == 0 ? 1 : numbers[before - 1], 1);
    numbers[before] = 5;
    backend->add(*x, *x, *x);
    ASSERT_TRUE(backend->finish());
    EXPECT_EQ(numbers[before], 10);
    EXPECT_EQ(backend->contents(*x), numbers.data() + before);
  }
}

TEST_P(Tensors, OverHostMemoryKeepTheirOwner) {
  auto owner = std::make_shared<std::vector<float>>(100, 1.0f);
  std::weak_ptr<std::vector<float>> is_there = owner;
  {
    const auto x = backend->wrap(TensorType::f32, {100}, owner->data(), owner);
    owner.reset();
    const Tensor part = x->slice(10, 20);
    EXPECT_EQ(values(part)[0], 1);
    backend->add(part, part, part);
    EXPECT_FALSE(is_there.expired());
    ASSERT_TRUE(backend->finish());
  }
  EXPECT_TRUE(is_there.expired());
}

TEST_P(Tensors, OfAFileAreViewsAtAnyOffset) {
  std::vector<char> file(28 + 64 * 4 + 2 + 3 * 4);  // as a header of 28 bytes, floats, and floats at an odd place
  for (size_t i = 0; i < 64; ++i) {
    const auto value = float(i);
    std::memcpy(&file[28 + 4 * i], &value, 4);
  }
  const float last[] = {7, 8, 9};
  std::memcpy(&file[28 + 256 + 2], last, sizeof(last));
  const auto bytes = backend->wrap(TensorType::u8, {file.size()}, file.data());
  ASSERT_TRUE(bytes);
  const Tensor floats = bytes->view(28, TensorType::f32, {8, 8});
  const auto weights = backend->resident(floats);
  ASSERT_TRUE(weights);
  EXPECT_EQ(values(weights->slice(3, 1))[2], 26);
  EXPECT_FALSE(bytes->view(28, TensorType::f32, {80, 8}));

  const auto odd = backend->resident(bytes->view(28 + 256 + 2, TensorType::f32, {3}));
  ASSERT_TRUE(odd);
  backend->add(*odd, *odd, *odd);
  EXPECT_EQ(values(*odd), (std::vector<double>{14, 16, 18}));
}

TEST_P(Tensors, AreSlicedAndReshaped) {
  const Numbers x = random(TensorType::f16, {4, 6});
  const Tensor middle = x.tensor.slice(1, 2);
  EXPECT_EQ(middle.shape(), (std::vector<size_t>{2, 6}));
  EXPECT_EQ(values(middle), std::vector<double>(x.values.begin() + 6, x.values.begin() + 18));
  EXPECT_EQ(values(x.tensor.reshape({3, 8}).slice(2, 1)), std::vector<double>(x.values.begin() + 16, x.values.end()));
  EXPECT_FALSE(x.tensor.slice(3, 2));
  EXPECT_FALSE(x.tensor.slice(5, SIZE_MAX));
  EXPECT_FALSE(x.tensor.reshape({5, 5}));
  EXPECT_FALSE(x.tensor.reshape({SIZE_MAX, 2}));
  EXPECT_FALSE(Tensor().slice(0, 0));
}

TEST_P(Tensors, ComeFromAPoolThatCounts) {
  EXPECT_EQ(backend->pool_statistics().live_bytes, 0);
  Tensor a = backend->tensor(TensorType::f32, {1000});
  Tensor b = backend->tensor(TensorType::f32, {1000});
  PoolStatistics statistics = backend->pool_statistics();
  EXPECT_EQ(statistics.live_buffers, 2);
  EXPECT_EQ(statistics.live_bytes, 8192);
  EXPECT_EQ(statistics.requests, 2);
  EXPECT_EQ(statistics.hits, 0);
  Tensor part = a.slice(0, 10);
  a = {};
  EXPECT_EQ(backend->pool_statistics().live_buffers, 2) << "a view keeps the memory";
  part = {};
  b = {};
  statistics = backend->pool_statistics();
  EXPECT_EQ(statistics.live_bytes, 0);
  EXPECT_EQ(statistics.pooled_bytes, 8192);
  a = backend->tensor(TensorType::f32, {900});  // rounded up to the same size
  statistics = backend->pool_statistics();
  EXPECT_EQ(statistics.hits, 1);
  EXPECT_EQ(statistics.pooled_buffers, 1);
  EXPECT_EQ(statistics.peak_bytes, 8192);
  b = backend->tensor(TensorType::f32, {(1 << 20) + 1});  // large ones are not doubled
  EXPECT_EQ(backend->pool_statistics().live_bytes, 4096 + (5 << 20));
  backend->trim_pool();
  EXPECT_EQ(backend->pool_statistics().pooled_bytes, 0);
}

TEST_P(Tensors, OutliveTheirBackend) {
  const Tensor x = backend->tensor(TensorType::f32, {100});
  backend.reset();
  EXPECT_EQ(x.count(), 100);
}

TEST_P(Tensors, AreUsedByManyOperationsInOneCommandBuffer) {
  const Tensor x = of_floats({1, 2, 3, 4}, {4}), one = of_floats({1, 1, 1, 1}, {4});
  for (int i = 0; i < 300; ++i) {
    const Tensor next = backend->tensor(TensorType::f32, {4});  // given back while commands still use it
    backend->add(x, one, next);
    backend->add(next, one, x);
    if (i == 100) backend->commit();
  }
  EXPECT_EQ(values(x), (std::vector<double>{601, 602, 603, 604}));
}

TEST_P(Tensors, AreReadLaterWhileOtherOperationsFollow) {
  for (const size_t count : {1u, 1000u, 5000u}) {  // a GPU's host gets few numbers in another way than many
    const Tensor x = backend->tensor(TensorType::f32, {count});
    ASSERT_TRUE(backend->write(x, std::vector<float>(count, 1).data()));
    std::vector<std::function<Status(void*)>> readings;
    std::vector<Tensor> sums{x};
    for (size_t i = 0; i < 50; ++i) {
      sums.push_back(backend->tensor(TensorType::f32, {count}));
      backend->add(sums[i], x, sums[i + 1]);
      readings.push_back(backend->read_later(sums[i + 1]));
    }
    std::vector<float> numbers(count);
    for (const size_t i : {7u, 3u, 49u, 48u}) {  // in any order
      ASSERT_TRUE(readings[i](numbers.data()));
      EXPECT_EQ(numbers.front(), float(i + 2));
      EXPECT_EQ(numbers.back(), float(i + 2));
    }
  }
  EXPECT_FALSE(backend->read_later({})(nullptr)) << "there is no tensor";
  EXPECT_TRUE(backend->finish());
}

TEST(Backends, AreChosen) {
  const auto plain = init_backend(BackendPreference::Cpu);
  ASSERT_TRUE(plain);
  EXPECT_EQ((*plain)->name(), "cpu");
  EXPECT_EQ((*plain)->device_name(), "plain C++");
  EXPECT_TRUE((*plain)->is_available());
  const auto metal = init_backend(BackendPreference::Metal), best = init_backend();
  ASSERT_TRUE(metal) << metal.error();
  ASSERT_TRUE(best);
  EXPECT_EQ((*metal)->name(), "metal");
  EXPECT_EQ((*best)->device_name(), (*metal)->device_name());
}

}  // namespace
}  // namespace metalloid::transformer
