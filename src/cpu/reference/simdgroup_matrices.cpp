// Simdgroup matrices: 8×8, two elements of a row in each of 32 lanes. Products are exact and sums round to float, one
// after the other; the last rounds to the result's type. A lane that does not take part has zeros.
#include <initializer_list>

#include "cpu/reference/group_functions.hpp"

namespace metalloid::cpu::reference {
namespace {

constexpr uint32_t row_of(uint32_t lane) {
  return (lane / 4 & 4) + (lane / 2 & 3);
}
constexpr uint32_t column_of(uint32_t lane) {
  return (lane / 4 & 2) * 2 + (lane & 1) * 2;
}

// The two elements of a lane, laid out as a vector.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T element[2];
};

template <class T>
struct LoadOperands {
  const T* source;
  uint64_t elements_per_row;
  bool transpose;
};

template <class T>
struct StoreOperands {
  Pair<T> elements;
  T* destination;
  uint64_t elements_per_row;
  bool transpose;
};

template <class A, class B, class C>
struct ProductOperands {
  Pair<A> a;
  Pair<B> b;
  Pair<C> c;
};

// Where element i of a lane is in memory, from the matrix's first.
uint64_t place_of(uint32_t lane, uint32_t i, uint64_t elements_per_row, bool transpose) {
  const uint64_t row = row_of(lane), column = column_of(lane) + i;
  return transpose ? column * elements_per_row + row : row * elements_per_row + column;
}

template <class T>
void load(const Meeting& meeting) {
  for_each_lane(meeting.active, [&](uint32_t lane) {
    const auto& operands = meeting.operand<LoadOperands<T>>(lane);
    for (uint32_t i = 0; i < 2; ++i)
      meeting.result<Pair<T>>(lane).element[i] =
          operands.source[place_of(lane, i, operands.elements_per_row, operands.transpose)];
  });
}

template <class T>
void store(const Meeting& meeting) {
  for_each_lane(meeting.active, [&](uint32_t lane) {
    const auto& operands = meeting.operand<StoreOperands<T>>(lane);
    for (uint32_t i = 0; i < 2; ++i)
      operands.destination[place_of(lane, i, operands.elements_per_row, operands.transpose)] =
          operands.elements.element[i];
  });
}

template <class C, class A, class B>
void multiply_accumulate(const Meeting& meeting) {
  using Operands = ProductOperands<A, B, C>;
  float a[8][8] = {}, b[8][8] = {};
  for_each_lane(meeting.active, [&](uint32_t lane) {
    const auto& operands = meeting.operand<Operands>(lane);
    for (uint32_t i = 0; i < 2; ++i) {
      a[row_of(lane)][column_of(lane) + i] = static_cast<float>(operands.a.element[i]);
      b[row_of(lane)][column_of(lane) + i] = static_cast<float>(operands.b.element[i]);
    }
  });
  for_each_lane(meeting.active, [&](uint32_t lane) {
    const uint32_t row = row_of(lane), column = column_of(lane);
    for (uint32_t i = 0; i < 2; ++i) {
      float sum = static_cast<float>(meeting.operand<Operands>(lane).c.element[i]);
      for (uint32_t k = 0; k < 8; ++k)
        sum = static_cast<float>(sum + static_cast<double>(a[row][k]) * b[k][column + i]);
      meeting.result<Pair<C>>(lane).element[i] = static_cast<C>(sum);
    }
  });
}

template <class T>
struct Named {
  const char* name;
};
constexpr Named<Half> f16 = {"f16"};
constexpr Named<Bfloat> bf16 = {"bf16"};
constexpr Named<float> f32 = {"f32"};

template <class Add>
void for_each_type(Add add) {
  add(f16);
  add(bf16);
  add(f32);
}

}  // namespace

void add_matrices(RuntimeSymbols& symbols) {
  const auto symbol = [](std::initializer_list<const char*> words) {
    std::string text = "metal.simdgroup";
    for (const char* word : words) text += word;
    return text;
  };
  for_each_type([&]<class T>(Named<T> type) {
    for (const char* space : {"device", "threadgroup", "constant"})
      symbols.add(symbol({"_load.", space, ".", type.name}), load<T>);
    for (const char* space : {"device", "threadgroup"})
      symbols.add(symbol({"_store.", space, ".", type.name}), store<T>);
  });
  for_each_type([&]<class C>(Named<C> c) {
    for_each_type([&]<class A>(Named<A> a) {
      for_each_type([&]<class B>(Named<B> b) {
        symbols.add(symbol({"_multiply_accumulate.", c.name, ".", a.name, ".", b.name}), multiply_accumulate<C, A, B>);
      });
    });
  });
}

}  // namespace metalloid::cpu::reference
