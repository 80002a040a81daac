// Group functions called by kernels: in code that only some lanes reach, operands and results of every type arrive as
// the bodies (group_functions_test.cpp) have them.
#include <array>
#include <random>

#include "cpu/reference/meeting.hpp"
#include "cpu/runtime_symbols.hpp"
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

struct TypeInfo {
  const char* metal;   // in Metal source
  const char* symbol;  // in a builtin's name
  size_t bytes;
  bool integer;
};
constexpr TypeInfo types[] = {{"char", "i8", 1, true},    {"uchar", "u8", 1, true},  {"short", "i16", 2, true},
                              {"ushort", "u16", 2, true}, {"int", "i32", 4, true},   {"uint", "u32", 4, true},
                              {"long", "i64", 8, true},   {"ulong", "u64", 8, true}, {"half", "f16", 2, false},
                              {"float", "f32", 4, false}};

const char* const of_one[] = {"sum",
                              "product",
                              "min",
                              "max",
                              "prefix_inclusive_sum",
                              "prefix_exclusive_sum",
                              "prefix_inclusive_product",
                              "prefix_exclusive_product",
                              "broadcast_first"};
const char* const of_bits[] = {"and", "or", "xor"};
const char* const of_lane[] = {"broadcast",   "shuffle",           "shuffle_up",         "shuffle_down",
                               "shuffle_xor", "shuffle_rotate_up", "shuffle_rotate_down"};
const char* const of_filling[] = {"shuffle_and_fill_up", "shuffle_and_fill_down"};

struct Called {
  std::string name;  // without type: "simd_sum"
  enum Operands { one, lane, filling } operands;
};

std::vector<Called> functions_of(const TypeInfo& type) {
  std::vector<Called> functions;
  for (const std::string group : {"simd_", "quad_"}) {
    for (const char* name : of_one) functions.push_back({group + name, Called::one});
    if (type.integer)
      for (const char* name : of_bits) functions.push_back({group + name, Called::one});
    for (const char* name : of_lane) functions.push_back({group + name, Called::lane});
    for (const char* name : of_filling) functions.push_back({group + name, Called::filling});
  }
  return functions;
}

// A kernel for each type, whose lanes of `mask` store the result of every function, one row of 32 after the other.
std::string source() {
  std::string text;
  for (const TypeInfo& type : types) {
    const std::string T = type.metal;
    text += "kernel void of_" + T + "(device const " + T + "* in, device " + T +
            "* out, constant uint& mask, constant ushort& operand, uint lane [[thread_index_in_simdgroup]]) {\n"
            "  if ((mask >> lane & 1) == 0) return;\n  const " +
            T + " x = in[lane], y = in[32 + lane];\n";
    int row = 0;
    for (const auto& [name, operands] : functions_of(type))
      text += "  out[" + std::to_string(32 * row++) + " + lane] = " + name +
              (operands == Called::one    ? "(x);\n"
               : operands == Called::lane ? "(x, operand);\n"
                                          : "(x, y, operand);\n");
    text += "}\n";
  }
  return text;
}

using Bytes = std::vector<uint8_t>;

// The operands of a lane, packed as meeting.hpp says.
Bytes packed(const TypeInfo& type, const Called& called, const uint8_t* in, unsigned lane, uint16_t operand) {
  Bytes bytes(in + lane * type.bytes, in + (lane + 1) * type.bytes);
  const auto append = [&](uint16_t value) {
    if (bytes.size() % 2 != 0) bytes.push_back(0);
    bytes.push_back(static_cast<uint8_t>(value)), bytes.push_back(static_cast<uint8_t>(value >> 8));
  };
  if (called.operands == Called::filling)
    bytes.insert(bytes.end(), in + (32 + lane) * type.bytes, in + (33 + lane) * type.bytes);
  if (called.operands != Called::one) append(operand);
  if (called.operands == Called::filling) append(called.name.starts_with("simd") ? 32 : 4);
  bytes.resize(32);
  return bytes;
}

Bytes expected(const TypeInfo& type, const Called& called, const Bytes& in, uint32_t mask, uint16_t operand) {
  Bytes results(32 * type.bytes, 0xEE);
  std::array<Bytes, 32> operands;
  reference::Meeting meeting;
  meeting.active = mask;
  for (unsigned lane = 0; lane < 32; ++lane) {
    operands[lane] = packed(type, called, in.data(), lane, operand);
    meeting.operands[lane] = operands[lane].data();
    meeting.results[lane] = results.data() + lane * type.bytes;
  }
  const std::string symbol = "metal." + called.name + "." + type.symbol;
  const auto combine = reinterpret_cast<reference::Combine>(RuntimeSymbols::all().find(symbol));
  EXPECT_NE(combine, nullptr) << symbol;
  if (combine != nullptr) combine(meeting);
  return results;
}

// Sums and products of floating-point numbers up to a lane may be formed in any order.
bool is_in_any_order(const TypeInfo& type, const Called& called) {
  return !type.integer && called.name.find("prefix") != std::string::npos;
}

template <class T>
void expect_close(const Bytes& results, const Bytes& expected, float tolerance) {
  for (size_t i = 0; i < results.size(); i += sizeof(T)) {
    T result, reference;
    std::memcpy(&result, results.data() + i, sizeof(T));
    std::memcpy(&reference, expected.data() + i, sizeof(T));
    const auto size = std::max(1.0f, std::abs(static_cast<float>(reference)));
    ASSERT_NEAR(static_cast<float>(result), static_cast<float>(reference), tolerance * size) << i / sizeof(T);
  }
}

TEST(GroupKernel, EveryFunctionOfEveryTypeInDivergentCode) {
  const auto library = library_of(source());
  ASSERT_TRUE(library);
  std::mt19937 random(31);
  for (const TypeInfo& type : types) {
    Kernel kernel(library, {}, std::string("of_") + type.metal);
    ASSERT_TRUE(kernel.pipeline) << kernel.error;
    const std::vector<Called> functions = functions_of(type);
    for (int n = 0; n < 12; ++n) {
      const uint32_t mask = n == 0 ? ~0u : std::max<uint32_t>(1, static_cast<uint32_t>(random()));
      const uint16_t operand = static_cast<uint16_t>(random() % (n % 2 == 0 ? 4 : 32));
      Bytes in(64 * type.bytes), out(functions.size() * 32 * type.bytes, 0xEE);
      for (size_t i = 0; i < 64; ++i) {
        const float number = std::uniform_real_distribution<float>(-2, 2)(random);
        const _Float16 half = static_cast<_Float16>(number);
        const uint64_t bits = uint64_t{random()} << 32 ^ random();
        const void* value = type.integer      ? static_cast<const void*>(&bits)
                            : type.bytes == 2 ? static_cast<const void*>(&half)
                                              : static_cast<const void*>(&number);
        std::memcpy(in.data() + i * type.bytes, value, type.bytes);
      }
      ASSERT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(in), buffer(out), bytes(mask), bytes(operand)}}), "");
      for (size_t row = 0; row < functions.size(); ++row) {
        const Bytes results(out.begin() + static_cast<long>(row * 32 * type.bytes),
                            out.begin() + static_cast<long>((row + 1) * 32 * type.bytes));
        const Bytes reference = expected(type, functions[row], in, mask, operand);
        if (is_in_any_order(type, functions[row])) {
          if (type.bytes == 2)
            expect_close<_Float16>(results, reference, 0x1p-9f);
          else
            expect_close<float>(results, reference, 0x1p-20f);
          continue;
        }
        ASSERT_EQ(results, reference) << functions[row].name << " of " << type.metal << " by " << operand
                                      << " in lanes " << std::hex << mask;
      }
    }
  }
}

TEST(GroupKernel, VotesSeeTheLanesThatAreThere) {
  Kernel kernel(R"(
    kernel void f(device ulong* out, constant uint& mask, constant uint& says, uint lane [[thread_index_in_simdgroup]]) {
      if ((mask >> lane & 1) == 0) return;
      const bool say = says >> lane & 1;
      out[lane] = ulong(simd_vote::vote_t(simd_ballot(say)));
      out[32 + lane] = ulong(simd_vote::vote_t(simd_active_threads_mask()));
      out[64 + lane] = simd_all(say) | simd_any(say) << 1 | simd_is_first() << 2;
      out[96 + lane] = ulong(quad_vote::vote_t(quad_ballot(say)));
      out[128 + lane] = quad_all(say) | quad_any(say) << 1 | quad_is_first() << 2;
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::mt19937 random(5);
  for (int n = 0; n < 50; ++n) {
    const uint32_t mask = std::max<uint32_t>(1, static_cast<uint32_t>(random()));
    const uint32_t says = n % 3 == 0 ? ~0u : n % 3 == 1 ? 0 : static_cast<uint32_t>(random());
    std::vector<uint64_t> out(160);
    ASSERT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(out), bytes(mask), bytes(says)}}), "");
    const auto summary = [](uint32_t in_favour, uint32_t active, uint32_t lane) {
      return uint64_t{in_favour == active} | uint64_t{in_favour != 0} << 1 |
             uint64_t{static_cast<uint32_t>(__builtin_ctz(active)) == lane} << 2;
    };
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      ASSERT_EQ(out[lane], mask & says);
      ASSERT_EQ(out[32 + lane], mask);
      ASSERT_EQ(out[64 + lane], summary(mask & says, mask, lane));
      const uint32_t quad = mask >> lane / 4 * 4 & 15, quad_says = says >> lane / 4 * 4 & quad;
      ASSERT_EQ(out[96 + lane], quad_says);
      ASSERT_EQ(out[128 + lane], summary(quad_says, quad, lane % 4));
    }
  }
}

TEST(GroupKernel, LanesThatLeaveALoopEarlyNoLongerTakePart) {
  Kernel kernel(R"(
    kernel void f(device uint* out, uint lane [[thread_index_in_simdgroup]]) {
      uint total = 0;
      for (uint i = 0; i <= lane; ++i) total += simd_sum(1u);
      out[lane] = total;
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> out(32);
  ASSERT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(out)}}), "");
  uint32_t expected = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) ASSERT_EQ(out[lane], expected += 32 - lane);
}

TEST(GroupKernel, AGroupThatTheGridFillsInPartHasFewerLanes) {
  Kernel kernel(R"(
    kernel void f(device uint* out, uint i [[thread_position_in_grid]]) { out[i] = simd_sum(1u); })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> out(45);
  ASSERT_EQ(kernel.run({{45, 1, 1}, {64, 1, 1}, {buffer(out)}}), "");
  for (uint32_t i = 0; i < 45; ++i) ASSERT_EQ(out[i], i < 32 ? 32u : 13u);
}

TEST(GroupKernel, BfloatAndVectorsGoComponentByComponent) {
  Kernel kernel(R"(
    kernel void f(device float* out, uint lane [[thread_index_in_simdgroup]]) {
      out[lane] = float(simd_sum(bfloat(lane)));
      out[32 + lane] = float(simd_shuffle_xor(bfloat(lane), 1));
      const float3 sums = simd_sum(float3(1, lane, 2));
      out[64 + lane] = sums.x + sums.y + sums.z;
      out[96 + lane] = simd_shuffle(bool(lane & 1), 3);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> out(128);
  ASSERT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(out)}}), "");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[lane], 496);
    EXPECT_EQ(out[32 + lane], static_cast<float>(lane ^ 1));
    EXPECT_EQ(out[64 + lane], 32 + 496 + 64);
    EXPECT_EQ(out[96 + lane], 1);
  }
}

TEST(GroupKernel, SimdgroupMatricesMultiply) {
  Kernel kernel(R"(
    template <class T> void product(device const float* a, device const float* b, device float* c, threadgroup T* t,
                                    uint lane) {
      for (uint i = lane; i < 64; i += 32) t[i] = T(a[i]), t[64 + i] = T(b[i]);
      simdgroup_barrier(mem_flags::mem_threadgroup);
      simdgroup_matrix<T, 8, 8> left, right, sum = make_filled_simdgroup_matrix<T, 8>(T(1));
      simdgroup_load(left, t, 8);
      simdgroup_load(right, t + 64, 8, ulong2(0), true);
      simdgroup_multiply_accumulate(sum, left, right, sum);
      simdgroup_store(sum, t, 8);
      simdgroup_barrier(mem_flags::mem_threadgroup);
      for (uint i = lane; i < 64; i += 32) c[i] = float(t[i]);
    }
    kernel void f(device const float* a, device const float* b, device float* c, uint lane [[thread_index_in_simdgroup]]) {
      threadgroup float t32[128];
      threadgroup half t16[128];
      threadgroup bfloat tb16[128];
      product(a, b, c, t32, lane);
      product(a, b, c + 64, t16, lane);
      product(a, b, c + 128, tb16, lane);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  // Small integers, of which every sum is exact in all three types.
  std::vector<float> a(64), b(64), c(192);
  for (size_t i = 0; i < 64; ++i) a[i] = static_cast<float>(i * 7 % 5) - 2, b[i] = static_cast<float>(i * 3 % 7) - 3;
  ASSERT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(a), buffer(b), buffer(c)}}), "");
  for (size_t row = 0; row < 8; ++row)
    for (size_t column = 0; column < 8; ++column) {
      float expected = 1;
      for (size_t k = 0; k < 8; ++k) expected += a[row * 8 + k] * b[column * 8 + k];
      for (size_t type = 0; type < 3; ++type) ASSERT_EQ(c[type * 64 + row * 8 + column], expected) << type;
    }
}

}  // namespace
}  // namespace metalloid::cpu
