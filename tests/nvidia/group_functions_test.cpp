// Group functions, lowered and run on an emulated SIMD-group: for random sets of lanes, in code that all of them reach
// and in divergent code, in both orders of lanes. Each result is compared with what docs/builtins.md says about one
// lane, written down for one lane at a time.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "emulated_simdgroup.hpp"

namespace metalloid::nvidia {
namespace {

template <class T>
struct Type;
#define TYPE(type, word, ir)                                 \
  template <>                                                \
  struct Type<type> {                                        \
    static constexpr const char *name = word, *in_llvm = ir; \
  }
TYPE(int8_t, "i8", "i8");
TYPE(uint8_t, "u8", "i8");
TYPE(int16_t, "i16", "i16");
TYPE(uint16_t, "u16", "i16");
TYPE(int32_t, "i32", "i32");
TYPE(uint32_t, "u32", "i32");
TYPE(int64_t, "i64", "i64");
TYPE(uint64_t, "u64", "i64");
TYPE(_Float16, "f16", "half");
TYPE(float, "f32", "float");
#undef TYPE

enum class Place { together, divergent };
enum class Order { hardware, matrix };

struct Situation {
  Place place;
  Order order;
  uint32_t capability;
};

// Physical lane of a logical one, by the layouts of docs/builtins.md and of the PTX manual: row * 4 + column / 2.
uint32_t physical(uint32_t lane, Order order) {
  if (order == Order::hardware) return lane;
  const uint32_t row = (lane / 4 & 4) + (lane / 2 & 3), column = (lane / 4 & 2) * 2 + (lane & 1) * 2;
  return row * 4 + column / 2;
}
uint32_t physical_mask(uint32_t lanes, Order order) {
  uint32_t mask = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) mask |= (lanes >> lane & 1) << physical(lane, order);
  return mask;
}

// A kernel that calls a function with the operands that `operands` names: %value, %filling, %number, %modulo,
// %condition. The divergent one calls it in those lanes whose flag says so, and then all meet again.
std::string kernel_of(const std::string& symbol, const std::string& result, const std::string& type,
                      const std::string& operands, const std::string& declared, const Situation& situation) {
  std::string call = "  %result = call " + result + " @" + symbol + "(" + operands + ")\n";
  const bool is_bit = result == "i1";
  if (is_bit) call += "  %wide = zext i1 %result to i8\n";
  call += "  %to = getelementptr " + (is_bit ? "i8" : result) + ", ptr %out, i32 %lane\n  store " +
          (is_bit ? "i8 %wide" : result + " %result") + ", ptr %to\n";
  std::string text =
      "define ptx_kernel void @kernel(ptr %in, ptr %second, ptr %numbers, ptr %out) convergent {\n"
      "  %lane = call i32 @metal.thread_index_in_simdgroup()\n"
      "  %at = getelementptr " +
      type + ", ptr %in, i32 %lane\n  %value = load " + type +
      ", ptr %at\n"
      "  %at2 = getelementptr " +
      type + ", ptr %second, i32 %lane\n  %filling = load " + type +
      ", ptr %at2\n"
      "  %at3 = getelementptr i16, ptr %numbers, i32 %lane\n  %number = load i16, ptr %at3\n"
      "  %at4 = getelementptr i16, ptr %numbers, i32 32\n  %modulo = load i16, ptr %at4\n"
      "  %at5 = getelementptr i16, ptr %at4, i32 %lane\n  %at6 = getelementptr i16, ptr %at5, i32 1\n"
      "  %flag = load i16, ptr %at6\n  %condition = trunc i16 %number to i1\n";
  if (situation.place == Place::divergent)
    text += "  %calls = icmp ne i16 %flag, 0\n  br i1 %calls, label %then, label %join\nthen:\n" + call +
            "  br label %join\njoin:\n  %met = call i1 @metal.simd_any(i1 true)\n  ret void\n}\n";
  else
    text += call + "  ret void\n}\n";
  text += "declare i32 @metal.thread_index_in_simdgroup()\n";
  text += "declare " + result + " @" + symbol + "(" + declared + ") convergent\n";
  if (symbol != "metal.simd_any") text += "declare i1 @metal.simd_any(i1) convergent\n";
  if (situation.order == Order::matrix)
    text +=
        "define internal void @multiplies() {\n"
        "  call <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float> zeroinitializer, <2 x float> "
        "zeroinitializer, <2 x float> zeroinitializer)\n  ret void\n}\n"
        "declare <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float>, <2 x float>, <2 x float>) "
        "convergent memory(none)\n";
  return text;
}

template <class T>
struct Operands {
  std::array<T, 32> value, filling;
  std::array<uint16_t, 32> number;
  uint16_t modulo;
};

class GroupFunctions : public testing::TestWithParam<Situation> {
 protected:
  uint32_t random_lanes() {
    switch (random_() % 5) {
      case 0:
        return ~0u;
      case 1:
        return 1u << random_() % 32;
      case 2:
        return ~0u >> random_() % 32;
      case 3:
        return static_cast<uint32_t>(random_() & random_() & random_()) | 1u << random_() % 32;
      default:
        return static_cast<uint32_t>(random_()) | 1u;
    }
  }

  // Small numbers, so that sums and products are exact in whatever order.
  template <class T>
  T random_number(bool is_factor) {
    if (is_factor) return static_cast<T>(random_() % 8 == 0 ? 2 : 1);
    if constexpr (std::is_integral_v<T>) return static_cast<T>(random_());
    return static_cast<T>(static_cast<float>(static_cast<int>(random_() % 64) - 32) / 4);
  }

  template <class T>
  Operands<T> random_operands(bool is_factor, unsigned numbers) {
    Operands<T> operands;
    for (uint32_t i = 0; i < 32; ++i) {
      operands.value[i] = random_number<T>(is_factor);
      operands.filling[i] = random_number<T>(is_factor);
      operands.number[i] = static_cast<uint16_t>(random_() % numbers);
    }
    operands.modulo = static_cast<uint16_t>(1u << random_() % 6);
    return operands;
  }

  template <class Result, class T>
  std::array<Result, 32> run(EmulatedSimdgroup& code, uint32_t lanes, Operands<T>& operands) {
    std::array<Result, 32> results{};
    std::array<uint16_t, 65> numbers{};
    std::copy(operands.number.begin(), operands.number.end(), numbers.begin());
    numbers[32] = operands.modulo;
    for (uint32_t i = 0; i < 32; ++i) numbers[33 + i] = lanes >> i & 1;
    const uint32_t mask = physical_mask(lanes, GetParam().order);
    const uint32_t existing = GetParam().place == Place::divergent ? ~0u : mask;
    code.run(existing, mask, {operands.value.data(), operands.filling.data(), numbers.data(), results.data()});
    return results;
  }

  // `expected` gives a result, or nothing where it is undefined.
  template <class Result, class T, class Expected>
  void expect(const std::string& symbol, const std::string& result, const std::string& call,
              const std::string& declared, bool is_factor, unsigned numbers, Expected expected) {
    EmulatedSimdgroup code(LoweredKernel(kernel_of(symbol, result, Type<T>::in_llvm, call, declared, GetParam()),
                                         {GetParam().capability}));
    for (int i = 0; i < 6; ++i) {
      const uint32_t lanes = i == 0 ? ~0u : random_lanes();
      Operands<T> operands = random_operands<T>(is_factor, numbers);
      if (symbol.find("broadcast") != symbol.npos) operands.number.fill(operands.number[0]);
      const auto results = run<Result>(code, lanes, operands);
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const std::optional<Result> should = expected(lanes, lane, operands);
        if (!should) continue;
        ASSERT_EQ(std::memcmp(&*should, &results[lane], sizeof(Result)), 0)
            << symbol << " in lane " << lane << " of " << std::hex << lanes << ": " << std::dec
            << static_cast<double>(results[lane]) << " in place of " << static_cast<double>(*should);
      }
    }
  }

  std::mt19937 random_{29};
};

struct Group {
  const char* prefix;
  uint32_t size;

  uint32_t of(uint32_t lanes, uint32_t lane) const { return size == 32 ? lanes : lanes & 15u << (lane & 28); }
};
constexpr Group groups[] = {{"metal.simd_", 32}, {"metal.quad_", 4}};

template <class T>
using Combine = T (*)(T, T);

// What sums and products are made in: those of integers wrap around, whatever their sign.
template <class T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

template <class T>
std::vector<std::pair<const char*, Combine<T>>> reductions() {
  using W = Wrapping<T>;
  std::vector<std::pair<const char*, Combine<T>>> all{{"sum", [](T a, T b) { return static_cast<T>(W(a) + W(b)); }},
                                                      {"product", [](T a, T b) { return static_cast<T>(W(a) * W(b)); }},
                                                      {"min", [](T a, T b) { return std::min(a, b); }},
                                                      {"max", [](T a, T b) { return std::max(a, b); }}};
  if constexpr (std::is_integral_v<T>) {
    all.push_back({"and", [](T a, T b) { return static_cast<T>(a & b); }});
    all.push_back({"or", [](T a, T b) { return static_cast<T>(a | b); }});
    all.push_back({"xor", [](T a, T b) { return static_cast<T>(a ^ b); }});
  }
  return all;
}

template <class First, class... Rest, class Test>
void for_each_type(Test test) {
  test(First{});
  if constexpr (sizeof...(Rest) > 0) for_each_type<Rest...>(test);
}
// All of them in one situation; in the others, one of each kind.
template <class Test>
void for_all_types(const Situation& situation, Test test) {
  for_each_type<int8_t, uint32_t, int64_t, _Float16>(test);
  if (situation.place == Place::together && situation.order == Order::hardware)
    for_each_type<uint8_t, int16_t, uint16_t, int32_t, uint64_t, float>(test);
}

TEST_P(GroupFunctions, ReductionsAreOverTheLanesThatCall) {
  for_all_types(GetParam(), [&]<class T>(T) {
    const std::string type = Type<T>::in_llvm;
    for (const Group& group : groups)
      for (const auto& [name, combine] : reductions<T>())
        expect<T, T>(std::string(group.prefix) + name + "." + Type<T>::name, type, type + " %value", type,
                     std::string(name) == "product", 1,
                     [&](uint32_t lanes, uint32_t lane, const Operands<T>& operands) -> std::optional<T> {
                       std::optional<T> result;
                       for (uint32_t i = 0; i < 32; ++i)
                         if (group.of(lanes, lane) >> i & 1)
                           result = result ? combine(*result, operands.value[i]) : operands.value[i];
                       return result;
                     });
  });
}

TEST_P(GroupFunctions, PrefixesAreOverTheLanesBefore) {
  for_all_types(GetParam(), [&]<class T>(T) {
    const std::string type = Type<T>::in_llvm;
    for (const Group& group : groups)
      for (const bool is_exclusive : {false, true})
        for (const auto& [name, combine] : reductions<T>()) {
          const bool is_product = std::string(name) == "product";
          if (!is_product && std::string(name) != "sum") continue;
          expect<T, T>(std::string(group.prefix) + (is_exclusive ? "prefix_exclusive_" : "prefix_inclusive_") + name +
                           "." + Type<T>::name,
                       type, type + " %value", type, is_product, 1,
                       [&](uint32_t lanes, uint32_t lane, const Operands<T>& operands) -> std::optional<T> {
                         T result = static_cast<T>(is_product ? 1 : 0);
                         for (uint32_t i = 0; i < lane + (is_exclusive ? 0 : 1); ++i)
                           if (group.of(lanes, lane) >> i & 1) result = combine(result, operands.value[i]);
                         return result;
                       });
        }
  });
}

TEST_P(GroupFunctions, MovesComeFromTheLaneTheySay) {
  struct Move {
    const char* name;
    int (*source)(int place, int number, int size);  // -1: none, which is 0
  };
  const Move moves[] = {
      {"broadcast", [](int, int number, int size) { return number < size ? number : -1; }},
      {"shuffle", [](int, int number, int size) { return number < size ? number : -1; }},
      {"shuffle_xor", [](int place, int number, int size) { return number < size ? place ^ number : -1; }},
      {"shuffle_up", [](int place, int number, int) { return place < number ? place : place - number; }},
      {"shuffle_down", [](int place, int number, int size) { return place + number < size ? place + number : place; }},
      {"shuffle_rotate_up", [](int place, int number, int size) { return (place - number) & (size - 1); }},
      {"shuffle_rotate_down", [](int place, int number, int size) { return (place + number) & (size - 1); }},
  };
  for_all_types(GetParam(), [&]<class T>(T) {
    const std::string type = Type<T>::in_llvm;
    for (const Group& group : groups) {
      for (const Move& move : moves)
        expect<T, T>(std::string(group.prefix) + move.name + "." + Type<T>::name, type, type + " %value, i16 %number",
                     type + ", i16", false, group.size == 32 ? 40 : 6,
                     [&](uint32_t lanes, uint32_t lane, const Operands<T>& operands) -> std::optional<T> {
                       const int size = static_cast<int>(group.size), place = static_cast<int>(lane) % size;
                       const int source = move.source(place, operands.number[lane], size);
                       const int from = static_cast<int>(lane) - place + source;
                       if (source < 0 || !(lanes >> from & 1)) return T(0);
                       return operands.value[static_cast<size_t>(from)];
                     });
      expect<T, T>(std::string(group.prefix) + "broadcast_first." + Type<T>::name, type, type + " %value", type, false,
                   1, [&](uint32_t lanes, uint32_t lane, const Operands<T>& operands) -> std::optional<T> {
                     return operands.value[static_cast<size_t>(std::countr_zero(group.of(lanes, lane)))];
                   });
    }
  });
}

TEST_P(GroupFunctions, ShufflesFillFromBeyondTheRun) {
  for_all_types(GetParam(), [&]<class T>(T) {
    const std::string type = Type<T>::in_llvm;
    for (const Group& group : groups)
      for (const bool up : {true, false})
        expect<T, T>(
            std::string(group.prefix) + "shuffle_and_fill_" + (up ? "up." : "down.") + Type<T>::name, type,
            type + " %value, " + type + " %filling, i16 %number, i16 %modulo", type + ", " + type + ", i16, i16", false,
            5, [&](uint32_t lanes, uint32_t lane, const Operands<T>& operands) -> std::optional<T> {
              const int size = static_cast<int>(group.size), own = static_cast<int>(lane);
              const int run = std::min<int>(operands.modulo, size), delta = operands.number[lane];
              const int start = own / run * run, place = own - start, moved = up ? place - delta : place + delta;
              const bool is_data = moved >= 0 && moved < run;
              const int in_run = is_data ? moved : up ? moved + run : moved - run;
              if (in_run < 0 || in_run >= run || !(lanes >> (start + in_run) & 1)) return T(0);
              const auto from = static_cast<size_t>(start + in_run);
              return is_data ? operands.value[from] : operands.filling[from];
            });
  });
}

TEST_P(GroupFunctions, VotesAreOfTheLanesThatCall) {
  const auto in_favour = [](const Group& group, uint32_t lanes, uint32_t lane, const Operands<uint32_t>& operands) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 32; ++i) bits |= (group.of(lanes, lane) >> i & operands.number[i] & 1u) << i;
    return bits;
  };
  for (const Group& group : groups) {
    const std::string prefix = group.prefix;
    const auto from_first = [&](uint32_t bits, uint32_t lane) -> uint64_t {
      return group.size == 32 ? bits : bits >> (lane & 28);
    };
    expect<uint64_t, uint32_t>(prefix + "ballot", "i64", "i1 %condition", "i1", false, 2,
                               [&](uint32_t lanes, uint32_t lane, const auto& operands) {
                                 return std::optional(from_first(in_favour(group, lanes, lane, operands), lane));
                               });
    expect<uint64_t, uint32_t>(prefix + "active_threads_mask", "i64", "", "", false, 2,
                               [&](uint32_t lanes, uint32_t lane, const auto&) {
                                 return std::optional(from_first(group.of(lanes, lane), lane));
                               });
    expect<uint8_t, uint32_t>(prefix + "all", "i1", "i1 %condition", "i1", false, 2,
                              [&](uint32_t lanes, uint32_t lane, const auto& operands) {
                                const bool all = in_favour(group, lanes, lane, operands) == group.of(lanes, lane);
                                return std::optional<uint8_t>(all);
                              });
    expect<uint8_t, uint32_t>(prefix + "any", "i1", "i1 %condition", "i1", false, 2,
                              [&](uint32_t lanes, uint32_t lane, const auto& operands) {
                                return std::optional<uint8_t>(in_favour(group, lanes, lane, operands) != 0);
                              });
    expect<uint8_t, uint32_t>(prefix + "is_first", "i1", "", "", false, 2,
                              [&](uint32_t lanes, uint32_t lane, const auto&) {
                                const int first = std::countr_zero(group.of(lanes, lane));
                                return std::optional<uint8_t>(first == static_cast<int>(lane));
                              });
  }
}

INSTANTIATE_TEST_SUITE_P(Lowered, GroupFunctions,
                         testing::Values(Situation{Place::together, Order::hardware, 75},
                                         Situation{Place::together, Order::matrix, 75},
                                         Situation{Place::divergent, Order::hardware, 80},
                                         Situation{Place::divergent, Order::matrix, 90}),
                         [](const auto& info) {
                           return std::string(info.param.place == Place::together ? "together" : "divergent") +
                                  (info.param.order == Order::matrix ? "_matrix_order" : "_hardware_order") + "_sm_" +
                                  std::to_string(info.param.capability);
                         });

TEST(GroupFunction, ANanLosesAgainstANumber) {
  const Situation situation{Place::together, Order::hardware, 80};
  EmulatedSimdgroup code(
      LoweredKernel(kernel_of("metal.simd_min.f32", "float", "float", "float %value", "float", situation), {80}));
  std::array<float, 32> values, results{};
  values.fill(std::numeric_limits<float>::quiet_NaN());
  values[7] = 3;
  std::array<uint16_t, 65> numbers{};
  for (const uint32_t lanes : {~0u, 0xF0u}) {
    code.run(lanes, lanes, {values.data(), values.data(), numbers.data(), results.data()});
    EXPECT_EQ(results[5], 3) << std::hex << lanes;
  }
}

TEST(GroupFunction, LanesThatHaveEndedAreNotWaitedForAndDoNotCount) {
  // Lanes from a number on return; the others add up.
  LoweredKernel lowered(R"(
define ptx_kernel void @kernel(ptr %in, ptr %out) convergent {
  %lane = call i32 @metal.thread_index_in_simdgroup()
  %count = load i32, ptr %in
  %inside = icmp ult i32 %lane, %count
  br i1 %inside, label %body, label %end
body:
  %sum = call i32 @metal.simd_sum.i32(i32 1)
  %late = icmp ugt i32 %lane, 3
  br i1 %late, label %end, label %rest
rest:
  %again = call i32 @metal.simd_sum.i32(i32 1)
  %both = mul i32 %sum, %again
  %to = getelementptr i32, ptr %out, i32 %lane
  store i32 %both, ptr %to
  br label %end
end:
  ret void
}
declare i32 @metal.thread_index_in_simdgroup()
declare i32 @metal.simd_sum.i32(i32) convergent
)",
                        {75});
  EXPECT_EQ(count(lowered.before_optimisation(), "llvm.nvvm.activemask"), 0u) << lowered.before_optimisation();
  EmulatedSimdgroup code(std::move(lowered));
  std::array<uint32_t, 32> results{};
  for (const uint32_t inside : {32u, 17u, 3u}) {
    uint32_t number = inside;
    code.run(~0u, 0, {&number, results.data()});
    EXPECT_EQ(results[2], inside * std::min(inside, 4u));
  }
}

}  // namespace
}  // namespace metalloid::nvidia
