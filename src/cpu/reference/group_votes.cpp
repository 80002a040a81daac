// What the active lanes of a group say about a condition, and which lanes are active.
#include "cpu/reference/group_functions.hpp"

namespace metalloid::cpu::reference {
namespace {

// Of a group's active lanes, those that passed true.
uint32_t in_favour(const Meeting& meeting, uint32_t first, uint32_t active) {
  uint32_t votes = 0;
  for_each_lane(active, [&](uint32_t lane) { votes |= uint32_t{meeting.operand<bool>(first + lane)} << lane; });
  return votes;
}

// Gives each active lane of each group what answer(group's first lane, active lanes, lane) says.
template <uint32_t size, class Result, class Answer>
void answer_each(const Meeting& meeting, Answer answer) {
  for_each_group<size>(meeting, [&](uint32_t first, uint32_t active) {
    for_each_lane(active, [&](uint32_t lane) {
      meeting.result<Result>(first + lane) = static_cast<Result>(answer(first, active, lane));
    });
  });
}

template <uint32_t size>
void ballot(const Meeting& meeting) {
  answer_each<size, uint64_t>(
      meeting, [&](uint32_t first, uint32_t active, uint32_t) { return in_favour(meeting, first, active); });
}

template <uint32_t size>
void all(const Meeting& meeting) {
  answer_each<size, bool>(
      meeting, [&](uint32_t first, uint32_t active, uint32_t) { return in_favour(meeting, first, active) == active; });
}

template <uint32_t size>
void any(const Meeting& meeting) {
  answer_each<size, bool>(
      meeting, [&](uint32_t first, uint32_t active, uint32_t) { return in_favour(meeting, first, active) != 0; });
}

template <uint32_t size>
void active_threads_mask(const Meeting& meeting) {
  answer_each<size, uint64_t>(meeting, [](uint32_t, uint32_t active, uint32_t) { return active; });
}

template <uint32_t size>
void is_first(const Meeting& meeting) {
  answer_each<size, bool>(meeting,
                          [](uint32_t, uint32_t active, uint32_t lane) { return (active & ((1u << lane) - 1)) == 0; });
}

template <uint32_t size>
void add_group(RuntimeSymbols& symbols) {
  symbols.add(symbol<size>("ballot"), ballot<size>);
  symbols.add(symbol<size>("all"), all<size>);
  symbols.add(symbol<size>("any"), any<size>);
  symbols.add(symbol<size>("active_threads_mask"), active_threads_mask<size>);
  symbols.add(symbol<size>("is_first"), is_first<size>);
}

}  // namespace

void add_votes(RuntimeSymbols& symbols) {
  add_group<simd>(symbols);
  add_group<quad>(symbols);
}

}  // namespace metalloid::cpu::reference
