// The team of threads that library work runs on.
#pragma once

#include <type_traits>

namespace metalloid::mps::cpu {

// Of the team and whoever calls it.
unsigned most_threads();

void run_on_team(unsigned threads, void (*work)(void* data, unsigned number, unsigned count), void* data);

// Calls `work(number, count)` on so many threads, each with its number; on fewer where the caller is one of the team.
template <class Work>
void run_on_team(unsigned threads, Work&& work) {
  using Object = std::remove_reference_t<Work>;
  run_on_team(
      threads, [](void* data, unsigned number, unsigned count) { (*static_cast<Object*>(data))(number, count); },
      &work);
}

}  // namespace metalloid::mps::cpu
