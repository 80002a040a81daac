// Values that move between the lanes of a group: broadcasts, shuffles, rotations, shuffles that fill. They move bits,
// so one body serves all types of a size.
#include "cpu/reference/group_functions.hpp"

namespace metalloid::cpu::reference {
namespace {

template <class T>
struct Moved {
  T value;
  uint16_t lane;  // or mask, or delta
};

template <class T>
struct Filled {
  T data, filling;
  uint16_t delta, modulo;
};

constexpr int keep = -1;

// Which lane of a group of `size` a lane takes its value from; keep: its own. The operand is a shuffle's second.
struct FromLane {
  static int source(int, int operand, int) { return operand; }
};
struct FromXor {
  static int source(int lane, int operand, int) { return lane ^ operand; }
};
struct FromBelow {
  static int source(int lane, int operand, int) { return lane < operand ? keep : lane - operand; }
};
struct FromAbove {
  static int source(int lane, int operand, int size) { return lane + operand >= size ? keep : lane + operand; }
};
struct FromBelowAround {
  static int source(int lane, int operand, int size) { return (lane + size - operand % size) % size; }
};
struct FromAboveAround {
  static int source(int lane, int operand, int size) { return (lane + operand) % size; }
};

template <uint32_t size, class T, class From>
void shuffle(const Meeting& meeting) {
  for_each_group<size>(meeting, [&](uint32_t first, uint32_t active) {
    for_each_lane(active, [&](uint32_t lane) {
      const auto& own = meeting.operand<Moved<T>>(first + lane);
      const int source = From::source(static_cast<int>(lane), own.lane, static_cast<int>(size));
      const bool exists = source >= 0 && source < static_cast<int>(size) && (active >> source & 1) != 0;
      meeting.result<T>(first + lane) = source == keep ? own.value
                                        : exists
                                            ? meeting.operand<Moved<T>>(first + static_cast<uint32_t>(source)).value
                                            : T(0);
    });
  });
}

template <uint32_t size, class T>
void broadcast_first(const Meeting& meeting) {
  for_each_group<size>(meeting, [&](uint32_t first, uint32_t active) {
    const T value = meeting.operand<T>(first + static_cast<uint32_t>(__builtin_ctz(active)));
    for_each_lane(active, [&](uint32_t lane) { meeting.result<T>(first + lane) = value; });
  });
}

// A run is `modulo` lanes; beyond its end, `data` continues with `filling`.
template <uint32_t size, class T, bool up>
void shuffle_and_fill(const Meeting& meeting) {
  for_each_group<size>(meeting, [&](uint32_t first, uint32_t active) {
    for_each_lane(active, [&](uint32_t lane) {
      const auto& own = meeting.operand<Filled<T>>(first + lane);
      const int run = own.modulo == 0 || own.modulo > size ? static_cast<int>(size) : own.modulo;
      const int place = static_cast<int>(lane) % run, start = static_cast<int>(lane) - place;
      const int moved = up ? place - own.delta : place + own.delta;
      const bool filled = moved < 0 || moved >= run;
      const int within = !filled ? moved : up ? moved + run : moved - run;
      const int source = start + within;
      const bool exists = within >= 0 && within < run && source < static_cast<int>(size) && (active >> source & 1) != 0;
      T value{};
      if (exists) {
        const auto& from = meeting.operand<Filled<T>>(first + static_cast<uint32_t>(source));
        value = filled ? from.filling : from.data;
      }
      meeting.result<T>(first + lane) = value;
    });
  });
}

template <uint32_t size, class Bits>
void add_moves(RuntimeSymbols& symbols, const std::string& type) {
  symbols.add(symbol<size>("broadcast_first." + type), broadcast_first<size, Bits>);
  symbols.add(symbol<size>("broadcast." + type), shuffle<size, Bits, FromLane>);
  symbols.add(symbol<size>("shuffle." + type), shuffle<size, Bits, FromLane>);
  symbols.add(symbol<size>("shuffle_xor." + type), shuffle<size, Bits, FromXor>);
  symbols.add(symbol<size>("shuffle_up." + type), shuffle<size, Bits, FromBelow>);
  symbols.add(symbol<size>("shuffle_down." + type), shuffle<size, Bits, FromAbove>);
  symbols.add(symbol<size>("shuffle_rotate_up." + type), shuffle<size, Bits, FromBelowAround>);
  symbols.add(symbol<size>("shuffle_rotate_down." + type), shuffle<size, Bits, FromAboveAround>);
  symbols.add(symbol<size>("shuffle_and_fill_up." + type), shuffle_and_fill<size, Bits, true>);
  symbols.add(symbol<size>("shuffle_and_fill_down." + type), shuffle_and_fill<size, Bits, false>);
}

template <uint32_t size>
void add_group(RuntimeSymbols& symbols) {
  for (const char* type : {"i8", "u8"}) add_moves<size, uint8_t>(symbols, type);
  for (const char* type : {"i16", "u16", "f16"}) add_moves<size, uint16_t>(symbols, type);
  for (const char* type : {"i32", "u32", "f32"}) add_moves<size, uint32_t>(symbols, type);
  for (const char* type : {"i64", "u64"}) add_moves<size, uint64_t>(symbols, type);
}

}  // namespace

void add_shuffles(RuntimeSymbols& symbols) {
  add_group<simd>(symbols);
  add_group<quad>(symbols);
}

}  // namespace metalloid::cpu::reference
