// What tests of the transformer backend share: every backend there is, random tensors, and float64 to compare with.
#pragma once

#include <gtest/gtest.h>

#include <Metal/Metal.hpp>
#include <cmath>
#include <metalloid/backend.hpp>
#include <random>
#include <string>
#include <vector>

#include "device/small_float.hpp"
#include "transformer/operations.hpp"

namespace metalloid::transformer {

// Plain C++; Metal with the kernels that suit the device under test; Metal with those for devices of the other kind.
enum class Kind { Cpu, Metal, OtherKernels };

inline std::unique_ptr<Backend> backend_of(Kind kind) {
  if (kind == Kind::Cpu) return std::make_unique<Backend>(cpu_operations());
  auto operations = metal_operations();
  if (!operations) return nullptr;
  if (kind == Kind::OtherKernels) {
    const bool is_cpu = (*operations)->has_unified_memory();
    operations = metal_operations(is_cpu ? KernelShape::Gpu : KernelShape::Cpu);
  }
  return std::make_unique<Backend>(std::move(*operations));
}

constexpr TensorType float_types[] = {TensorType::f32, TensorType::f16, TensorType::bf16};
constexpr TensorType weight_types[] = {TensorType::f32, TensorType::f16, TensorType::bf16, TensorType::q8_0};

// Half the distance of neighbouring numbers near 1: what rounding a result to the type may cost, of its size.
inline double rounding_of(TensorType type) {
  return type == TensorType::f32 ? 0x1p-24 : type == TensorType::f16 ? 0x1p-11 : 0x1p-8;
}

// A tensor, and what its numbers are.
struct Numbers {
  Tensor tensor;
  std::vector<double> values;

  double at(size_t row, size_t column) const { return values[row * tensor.columns() + column]; }
};

inline std::vector<double> values_in(const std::vector<std::byte>& bytes, TensorType type, size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const std::byte* unit =
        bytes.data() + (type == TensorType::q8_0 ? i / q8_0_block * q8_0_block_bytes : bytes_of(type, 1) * i);
    uint16_t half;
    float whole;
    int32_t integer;
    std::memcpy(&half, unit, sizeof(half));
    switch (type) {
      case TensorType::f32:
        std::memcpy(&whole, unit, sizeof(whole));
        values[i] = whole;
        break;
      case TensorType::i32:
        std::memcpy(&integer, unit, sizeof(integer));
        values[i] = integer;
        break;
      case TensorType::f16:
        values[i] = device::from_half(half);
        break;
      case TensorType::bf16:
        values[i] = device::from_bfloat(half);
        break;
      default:
        values[i] = double(device::from_half(half)) * double(int8_t(unit[2 + i % q8_0_block]));
    }
  }
  return values;
}

class BackendTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    backend = backend_of(GetParam());
    ASSERT_TRUE(backend);
  }

  Numbers random(TensorType type, std::vector<size_t> shape, double low = -1, double high = 1) {
    Numbers numbers{backend->tensor(type, std::move(shape)), {}};
    EXPECT_TRUE(numbers.tensor);
    std::vector<std::byte> bytes(numbers.tensor.bytes());
    std::uniform_real_distribution<double> distribution(low, high);
    for (size_t i = 0; i < numbers.tensor.count(); ++i) {
      if (type == TensorType::q8_0) {
        std::byte* block = bytes.data() + i / q8_0_block * q8_0_block_bytes;
        if (i % q8_0_block == 0) put(block, uint16_t(device::to_half(float(high / 127))));
        block[2 + i % q8_0_block] = std::byte(int8_t(distribution(generator) / high * 127));
      } else if (type == TensorType::f32) {
        put(&bytes[4 * i], float(distribution(generator)));
      } else {
        const auto value = float(distribution(generator));
        put(&bytes[2 * i], uint16_t(type == TensorType::f16 ? device::to_half(value) : device::to_bfloat(value)));
      }
    }
    EXPECT_TRUE(backend->write(numbers.tensor, bytes.data()));
    numbers.values = values_in(bytes, type, numbers.tensor.count());
    return numbers;
  }

  Tensor of_floats(const std::vector<float>& numbers, std::vector<size_t> shape) {
    const Tensor tensor = backend->tensor(TensorType::f32, std::move(shape));
    EXPECT_TRUE(backend->write(tensor, numbers.data()));
    return tensor;
  }

  Tensor of_integers(const std::vector<int32_t>& numbers) {
    const Tensor tensor = backend->tensor(TensorType::i32, {numbers.size()});
    EXPECT_TRUE(backend->write(tensor, numbers.data()));
    return tensor;
  }

  std::vector<double> values(const Tensor& tensor) {
    std::vector<std::byte> bytes(tensor.bytes());
    const Status done = backend->read(tensor, bytes.data());
    EXPECT_TRUE(done) << done.error();
    return values_in(bytes, tensor.type(), tensor.count());
  }

  // The result is the reference but for rounding to its type and an error of its own for each number.
  void expect_near(const Tensor& tensor, const std::vector<double>& reference, const std::vector<double>& errors,
                   const std::string& what) {
    const std::vector<double> found = values(tensor);
    ASSERT_EQ(found.size(), reference.size());
    for (size_t i = 0; i < found.size(); ++i) {
      // Half of the smallest step of a half; those of the others are far smaller.
      const double rounding =
          std::abs(reference[i]) * rounding_of(tensor.type()) + (tensor.type() == TensorType::f16 ? 0x1p-25 : 0);
      ASSERT_NEAR(found[i], reference[i], rounding * 1.01 + errors[i]) << what << ", number " << i;
    }
  }
  void expect_near(const Tensor& tensor, const std::vector<double>& reference, double error, const std::string& what) {
    expect_near(tensor, reference, std::vector<double>(reference.size(), error), what);
  }

  std::unique_ptr<Backend> backend;
  std::mt19937 generator{42};

 private:
  template <class T>
  static void put(std::byte* place, T value) {
    std::memcpy(place, &value, sizeof(value));
  }
};

inline std::string name_of_kind(const testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::Cpu ? "Cpu" : info.param == Kind::Metal ? "Metal" : "OtherKernels";
}
#define INSTANTIATE_BACKEND_TEST(Suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::Values(Kind::Cpu, Kind::Metal, Kind::OtherKernels), \
                           metalloid::transformer::name_of_kind)

}  // namespace metalloid::transformer
