// Sums, products, least and greatest values, bitwise combinations and prefixes over the active lanes of a group.
//
// Whole groups are combined as a tree, lane l with lane l + 16 first, then l + 8, and so on, which is how a vector of
// lanes does it; prefixes go lane by lane. Integers wrap, and half is computed as float and rounded once.
#include <type_traits>

#include "cpu/reference/group_functions.hpp"

namespace metalloid::cpu::reference {
namespace {

template <class T>
struct Accumulated {
  using type = T;
};
template <>
struct Accumulated<Half> {
  using type = float;
};
template <class T>
using accumulated_t = typename Accumulated<T>::type;

// Integer arithmetic wraps: it is done in 64 bits without sign, and the low bits are the result.
struct Sum {
  static constexpr int identity = 0;
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct Product {
  static constexpr int identity = 1;
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};

// A NaN loses against a number.
struct Min {
  template <class T>
  static T combine(T a, T b) {
    return a != a || b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T combine(T a, T b) {
    return a != a || b > a ? b : a;
  }
};
struct And {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <uint32_t size, class T, class Operation>
void reduce(const Meeting& meeting) {
  for_each_group<size>(meeting, [&](uint32_t first, uint32_t active) {
    accumulated_t<T> values[size] = {};
    for_each_lane(
        active, [&](uint32_t lane) { values[lane] = static_cast<accumulated_t<T>>(meeting.operand<T>(first + lane)); });
    uint32_t present = active;
    for (uint32_t step = size / 2; step != 0; step /= 2) {
      for (uint32_t lane = 0; lane < step; ++lane) {
        if ((present >> (lane + step) & 1) == 0) continue;
        const bool both = present >> lane & 1;
        values[lane] = both ? Operation::combine(values[lane], values[lane + step]) : values[lane + step];
        present |= 1u << lane;
      }
    }
    for_each_lane(active, [&](uint32_t lane) { meeting.result<T>(first + lane) = static_cast<T>(values[0]); });
  });
}

template <uint32_t size, class T, class Operation, bool inclusive>
void prefix(const Meeting& meeting) {
  for_each_group<size>(meeting, [&](uint32_t first, uint32_t active) {
    auto total = static_cast<accumulated_t<T>>(Operation::identity);
    for_each_lane(active, [&](uint32_t lane) {
      const auto value = static_cast<accumulated_t<T>>(meeting.operand<T>(first + lane));
      const auto with_this = Operation::combine(total, value);
      meeting.result<T>(first + lane) = static_cast<T>(inclusive ? with_this : total);
      total = with_this;
    });
  });
}

template <uint32_t size, class T>
void add_numeric(RuntimeSymbols& symbols, const std::string& type) {
  symbols.add(symbol<size>("sum." + type), reduce<size, T, Sum>);
  symbols.add(symbol<size>("product." + type), reduce<size, T, Product>);
  symbols.add(symbol<size>("min." + type), reduce<size, T, Min>);
  symbols.add(symbol<size>("max." + type), reduce<size, T, Max>);
  symbols.add(symbol<size>("prefix_inclusive_sum." + type), prefix<size, T, Sum, true>);
  symbols.add(symbol<size>("prefix_exclusive_sum." + type), prefix<size, T, Sum, false>);
  symbols.add(symbol<size>("prefix_inclusive_product." + type), prefix<size, T, Product, true>);
  symbols.add(symbol<size>("prefix_exclusive_product." + type), prefix<size, T, Product, false>);
  if constexpr (std::is_integral_v<T>) {
    symbols.add(symbol<size>("and." + type), reduce<size, T, And>);
    symbols.add(symbol<size>("or." + type), reduce<size, T, Or>);
    symbols.add(symbol<size>("xor." + type), reduce<size, T, Xor>);
  }
}

template <uint32_t size>
void add_group(RuntimeSymbols& symbols) {
  add_numeric<size, int8_t>(symbols, "i8");
  add_numeric<size, uint8_t>(symbols, "u8");
  add_numeric<size, int16_t>(symbols, "i16");
  add_numeric<size, uint16_t>(symbols, "u16");
  add_numeric<size, int32_t>(symbols, "i32");
  add_numeric<size, uint32_t>(symbols, "u32");
  add_numeric<size, int64_t>(symbols, "i64");
  add_numeric<size, uint64_t>(symbols, "u64");
  add_numeric<size, Half>(symbols, "f16");
  add_numeric<size, float>(symbols, "f32");
}

}  // namespace

void add_reductions(RuntimeSymbols& symbols) {
  add_group<simd>(symbols);
  add_group<quad>(symbols);
}

}  // namespace metalloid::cpu::reference
