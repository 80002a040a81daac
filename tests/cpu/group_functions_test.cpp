// The bodies of group functions, called as the engine calls them, for random sets of active lanes: each result is
// compared with what docs/builtins.md says about one lane, written down for one lane at a time.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <random>

#include "cpu/reference/meeting.hpp"
#include "cpu/runtime_symbols.hpp"

namespace metalloid::cpu::reference {
namespace {

const RuntimeSymbols& symbols() {
  static const RuntimeSymbols symbols = [] {
    RuntimeSymbols all;
    add_group_functions(all);
    return all;
  }();
  return symbols;
}

// Calls a function with the operands of 32 lanes; lanes that are not active keep `untouched`.
template <class Result, class Operand>
std::array<Result, 32> call(const std::string& name, uint32_t active, const std::array<Operand, 32>& operands,
                            Result untouched = {}) {
  std::array<Result, 32> results;
  results.fill(untouched);
  const Combine combine = reinterpret_cast<Combine>(symbols().find(name));
  EXPECT_NE(combine, nullptr) << name;
  if (combine == nullptr) return results;
  Meeting meeting;
  meeting.active = active;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    meeting.operands[lane] = active >> lane & 1 ? &operands[lane] : nullptr;
    meeting.results[lane] = active >> lane & 1 ? &results[lane] : nullptr;
  }
  combine(meeting);
  return results;
}

struct Group {
  const char* name;
  uint32_t size;
};
constexpr Group groups[] = {{"simd", 32}, {"quad", 4}};

class GroupFunctions : public testing::Test {
 protected:
  uint32_t random_mask() {
    switch (random_() % 4) {
      case 0:
        return ~0u;
      case 1:
        return 1u << random_() % 32;
      case 2:
        return std::max<uint32_t>(1, static_cast<uint32_t>(random_()) & static_cast<uint32_t>(random_()));
      default:
        return std::max<uint32_t>(1, static_cast<uint32_t>(random_()));
    }
  }
  uint64_t bits() { return uint64_t{random_()} << 32 ^ random_(); }

  std::mt19937 random_{17};
};

// Halves as the compiler's own type, so that the reference shares nothing with the bodies.
using half = _Float16;

template <class T>
struct TypeName;
template <>
struct TypeName<int8_t> {
  static constexpr const char* name = "i8";
};
template <>
struct TypeName<uint8_t> {
  static constexpr const char* name = "u8";
};
template <>
struct TypeName<int16_t> {
  static constexpr const char* name = "i16";
};
template <>
struct TypeName<uint16_t> {
  static constexpr const char* name = "u16";
};
template <>
struct TypeName<int32_t> {
  static constexpr const char* name = "i32";
};
template <>
struct TypeName<uint32_t> {
  static constexpr const char* name = "u32";
};
template <>
struct TypeName<int64_t> {
  static constexpr const char* name = "i64";
};
template <>
struct TypeName<uint64_t> {
  static constexpr const char* name = "u64";
};
template <>
struct TypeName<half> {
  static constexpr const char* name = "f16";
};
template <>
struct TypeName<float> {
  static constexpr const char* name = "f32";
};

template <class Test>
void for_each_integer(Test test) {
  test(int8_t()), test(uint8_t()), test(int16_t()), test(uint16_t());
  test(int32_t()), test(uint32_t()), test(int64_t()), test(uint64_t());
}
template <class Test>
void for_each_type(Test test) {
  for_each_integer(test);
  test(half()), test(float());
}

constexpr bool is_integer(auto value) {
  return std::is_integral_v<decltype(value)>;
}

// Of one lane: the active lanes of its group, and of those the ones up to it.
std::vector<uint32_t> group_of(uint32_t lane, uint32_t size, uint32_t active, uint32_t end) {
  std::vector<uint32_t> lanes;
  for (uint32_t other = lane / size * size; other < std::min(end, lane / size * size + size); ++other)
    if (active >> other & 1) lanes.push_back(other);
  return lanes;
}

template <class T>
std::string function(const Group& group, const std::string& operation) {
  return std::string("metal.") + group.name + "_" + operation + "." + TypeName<T>::name;
}

template <class T>
std::array<T, 32> random_values(std::mt19937& random) {
  std::array<T, 32> values;
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(uint64_t{random()} << 32 ^ random());
    else
      value = static_cast<T>(std::uniform_real_distribution<float>(-2, 2)(random));
  }
  return values;
}

// `folded` of the lanes in one group in any order, compared with what each lane got: exactly for integers; for floats
// within the rounding of 32 additions or multiplications of numbers whose magnitudes are folded likewise.
template <class T>
void expect_folds(const std::string& name, uint32_t size, uint32_t active, const std::array<T, 32>& values,
                  bool product, std::function<uint32_t(uint32_t)> end_of) {
  const auto results = call<T>(name, active, values);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    const auto lanes = group_of(lane, size, active, end_of(lane));
    if constexpr (std::is_integral_v<T>) {
      uint64_t expected = product;
      for (const uint32_t other : lanes) {
        const uint64_t value = static_cast<uint64_t>(values[other]);
        expected = product ? expected * value : expected + value;
      }
      ASSERT_EQ(results[lane], static_cast<T>(expected)) << name << " lane " << lane << " of " << active;
    } else {
      double expected = product, magnitude = product;
      for (const uint32_t other : lanes) {
        const double value = static_cast<double>(values[other]);
        expected = product ? expected * value : expected + value;
        magnitude = product ? magnitude * std::abs(value) : magnitude + std::abs(value);
      }
      // Half: float's error, and one rounding to 11 bits.
      double tolerance = magnitude * 32 * 0x1p-24;
      if (sizeof(T) == 2) tolerance += std::max(std::abs(expected) * 0x1p-11, 0x1p-25);
      ASSERT_NEAR(static_cast<double>(results[lane]), expected, tolerance) << name << " lane " << lane;
    }
  }
}

TEST_F(GroupFunctions, SumsAndProductsFoldTheActiveLanesOnly) {
  for (const Group& group : groups)
    for_each_type([&]<class T>(T) {
      for (int n = 0; n < 200; ++n) {
        const uint32_t active = random_mask();
        const auto values = random_values<T>(random_);
        const auto whole = [](uint32_t) { return 32u; };
        const auto with = [](uint32_t lane) { return lane + 1; };
        const auto before = [](uint32_t lane) { return lane; };
        expect_folds(function<T>(group, "sum"), group.size, active, values, false, whole);
        expect_folds(function<T>(group, "product"), group.size, active, values, true, whole);
        expect_folds(function<T>(group, "prefix_inclusive_sum"), group.size, active, values, false, with);
        expect_folds(function<T>(group, "prefix_inclusive_product"), group.size, active, values, true, with);
        expect_folds(function<T>(group, "prefix_exclusive_sum"), group.size, active, values, false, before);
        expect_folds(function<T>(group, "prefix_exclusive_product"), group.size, active, values, true, before);
      }
    });
}

TEST_F(GroupFunctions, ASumOfHalvesIsRoundedOnce) {
  std::array<half, 32> values;
  values.fill(half(1));
  values[0] = half(2048);  // to which a half cannot add 1
  for (const half sum : call<half>("metal.simd_sum.f16", ~0u, values)) EXPECT_EQ(static_cast<float>(sum), 2080);
  EXPECT_EQ(static_cast<float>(call<half>("metal.simd_prefix_inclusive_sum.f16", ~0u, values)[31]), 2080);
}

TEST_F(GroupFunctions, SumsAreTheSameInAllLanes) {
  const auto values = random_values<float>(random_);
  const auto results = call<float>("metal.simd_sum.f32", ~0u, values);
  for (const float result : results) EXPECT_EQ(result, results[0]);
}

TEST_F(GroupFunctions, LeastAndGreatestAreThoseOfTheActiveLanes) {
  for (const Group& group : groups)
    for_each_type([&]<class T>(T) {
      for (int n = 0; n < 200; ++n) {
        const uint32_t active = random_mask();
        const auto values = random_values<T>(random_);
        const auto least = call<T>(function<T>(group, "min"), active, values);
        const auto greatest = call<T>(function<T>(group, "max"), active, values);
        for (uint32_t lane = 0; lane < 32; ++lane) {
          if ((active >> lane & 1) == 0) continue;
          T low = values[lane], high = values[lane];
          for (const uint32_t other : group_of(lane, group.size, active, 32)) {
            low = values[other] < low ? values[other] : low;
            high = values[other] > high ? values[other] : high;
          }
          ASSERT_EQ(least[lane], low) << group.name;
          ASSERT_EQ(greatest[lane], high) << group.name;
        }
      }
    });
}

TEST_F(GroupFunctions, ANaNLosesAgainstANumber) {
  const auto check = [&]<class T>(T) {
    std::array<T, 32> values;
    values.fill(static_cast<T>(NAN));
    EXPECT_TRUE(std::isnan(static_cast<float>(call<T>(function<T>(groups[0], "min"), ~0u, values)[3])));
    for (const uint32_t where : {0u, 7u, 31u}) {
      values.fill(static_cast<T>(NAN));
      values[where] = static_cast<T>(-3);
      EXPECT_EQ(call<T>(function<T>(groups[0], "min"), ~0u, values)[3], static_cast<T>(-3));
      EXPECT_EQ(call<T>(function<T>(groups[0], "max"), ~0u, values)[3], static_cast<T>(-3));
    }
  };
  check(half()), check(float());
}

TEST_F(GroupFunctions, BitwiseFunctionsFoldTheActiveLanes) {
  for (const Group& group : groups)
    for_each_integer([&]<class T>(T) {
      for (int n = 0; n < 200; ++n) {
        const uint32_t active = random_mask();
        const auto values = random_values<T>(random_);
        const auto both = call<T>(function<T>(group, "and"), active, values);
        const auto either = call<T>(function<T>(group, "or"), active, values);
        const auto odd = call<T>(function<T>(group, "xor"), active, values);
        for (uint32_t lane = 0; lane < 32; ++lane) {
          if ((active >> lane & 1) == 0) continue;
          uint64_t all = ~0ull, some = 0, parity = 0;
          for (const uint32_t other : group_of(lane, group.size, active, 32)) {
            const uint64_t value = static_cast<uint64_t>(values[other]);
            all &= value, some |= value, parity ^= value;
          }
          ASSERT_EQ(both[lane], static_cast<T>(all));
          ASSERT_EQ(either[lane], static_cast<T>(some));
          ASSERT_EQ(odd[lane], static_cast<T>(parity));
        }
      }
    });
}

template <class T>
struct Moved {
  T value;
  uint16_t operand;
};

// Which lane of the group a lane gets the value of: -1 its own, -2 undefined.
int source_of(const std::string& operation, int lane, int operand, int size) {
  if (operation == "broadcast" || operation == "shuffle") return operand < size ? operand : -2;
  if (operation == "shuffle_xor") return (lane ^ operand) < size ? lane ^ operand : -2;
  if (operation == "shuffle_up") return lane < operand ? -1 : lane - operand;
  if (operation == "shuffle_down") return lane >= size - operand ? -1 : lane + operand;
  const int turn = operation == "shuffle_rotate_up" ? -operand : operand;
  return ((lane + turn) % size + size) % size;
}

TEST_F(GroupFunctions, ShufflesTakeTheValueOfTheLaneTheyName) {
  for (const Group& group : groups)
    for (const std::string operation : {"broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down",
                                        "shuffle_rotate_up", "shuffle_rotate_down"})
      for_each_type([&]<class T>(T) {
        for (int n = 0; n < 100; ++n) {
          const uint32_t active = random_mask();
          const auto values = random_values<T>(random_);
          std::array<Moved<T>, 32> operands;
          const uint32_t limit = n % 10 == 0 ? 70000 : group.size + 3;
          const uint16_t common = static_cast<uint16_t>(random_() % limit);
          for (uint32_t lane = 0; lane < 32; ++lane)
            operands[lane] = {values[lane], n % 2 == 0 ? common : static_cast<uint16_t>(random_() % limit)};
          const auto results = call<T>(function<T>(group, operation), active, operands);
          for (uint32_t lane = 0; lane < 32; ++lane) {
            if ((active >> lane & 1) == 0) continue;
            const uint32_t first = lane / group.size * group.size;
            const int source = source_of(operation, static_cast<int>(lane - first), operands[lane].operand,
                                         static_cast<int>(group.size));
            T expected{};
            if (source == -1)
              expected = values[lane];
            else if (source >= 0 && active >> (first + static_cast<uint32_t>(source)) & 1)
              expected = values[first + static_cast<uint32_t>(source)];
            ASSERT_EQ(results[lane], expected) << operation << " lane " << lane << " by " << operands[lane].operand;
          }
        }
      });
}

TEST_F(GroupFunctions, BroadcastFirstGivesTheLowestActiveLanesValue) {
  for (const Group& group : groups)
    for_each_type([&]<class T>(T) {
      for (int n = 0; n < 100; ++n) {
        const uint32_t active = random_mask();
        const auto values = random_values<T>(random_);
        const auto results = call<T>(function<T>(group, "broadcast_first"), active, values);
        for (uint32_t lane = 0; lane < 32; ++lane) {
          if ((active >> lane & 1) == 0) continue;
          ASSERT_EQ(results[lane], values[group_of(lane, group.size, active, 32).front()]);
        }
      }
    });
}

template <class T>
struct Filled {
  T data, filling;
  uint16_t delta, modulo;
};

TEST_F(GroupFunctions, ShufflesThatFillContinueARunWithTheFilling) {
  for (const Group& group : groups)
    for (const bool up : {true, false})
      for_each_type([&]<class T>(T) {
        for (int n = 0; n < 200; ++n) {
          const uint32_t active = n % 2 == 0 ? ~0u : random_mask();
          const auto data = random_values<T>(random_), filling = random_values<T>(random_);
          const uint32_t modulo = std::min(2u << random_() % 5, group.size), delta = random_() % (modulo + 1);
          std::array<Filled<T>, 32> operands;
          for (uint32_t lane = 0; lane < 32; ++lane)
            operands[lane] = {data[lane], filling[lane], static_cast<uint16_t>(delta), static_cast<uint16_t>(modulo)};
          const auto results =
              call<T>(function<T>(group, up ? "shuffle_and_fill_up" : "shuffle_and_fill_down"), active, operands);
          for (uint32_t lane = 0; lane < 32; ++lane) {
            if ((active >> lane & 1) == 0) continue;
            // Data of a run and the filling of that run are one line of 2 * modulo places.
            const uint32_t run = lane / modulo * modulo, place = lane - run;
            const bool fill = up ? place < delta : place + delta >= modulo;
            const uint32_t from = run + (up ? place + modulo - delta : place + delta) % modulo;
            const T expected = (active >> from & 1) == 0 ? T{} : fill ? filling[from] : data[from];
            ASSERT_EQ(results[lane], expected) << "lane " << lane << " by " << delta << " in " << modulo;
          }
        }
      });
}

TEST_F(GroupFunctions, VotesCountTheActiveLanes) {
  for (const Group& group : groups) {
    const std::string prefix = std::string("metal.") + group.name + "_";
    for (int n = 0; n < 1000; ++n) {
      const uint32_t active = random_mask();
      std::array<bool, 32> says;
      for (bool& say : says) say = n % 3 == 0 || (n % 3 == 1 ? false : random_() % 2 == 0);
      const auto ballot = call<uint64_t>(prefix + "ballot", active, says);
      const auto mask = call<uint64_t>(prefix + "active_threads_mask", active, says);
      const auto all = call<bool>(prefix + "all", active, says);
      const auto any = call<bool>(prefix + "any", active, says);
      const auto first = call<bool>(prefix + "is_first", active, says);
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if ((active >> lane & 1) == 0) continue;
        uint64_t present = 0, in_favour = 0;
        const uint32_t base = lane / group.size * group.size;
        for (const uint32_t other : group_of(lane, group.size, active, 32)) {
          present |= 1ull << (other - base);
          if (says[other]) in_favour |= 1ull << (other - base);
        }
        ASSERT_EQ(ballot[lane], in_favour);
        ASSERT_EQ(mask[lane], present);
        ASSERT_EQ(all[lane], in_favour == present);
        ASSERT_EQ(any[lane], in_favour != 0);
        ASSERT_EQ(first[lane], lane == group_of(lane, group.size, active, 32).front());
      }
    }
  }
}

TEST_F(GroupFunctions, LanesThatAreNotActiveAreLeftAlone) {
  std::array<uint32_t, 32> values;
  values.fill(1);
  const auto results = call<uint32_t>("metal.simd_sum.u32", 0x80000001, values, 99u);
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(results[lane], lane % 31 == 0 ? 2u : 99u);
}

}  // namespace
}  // namespace metalloid::cpu::reference
