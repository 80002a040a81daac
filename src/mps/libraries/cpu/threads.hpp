// The team of threads that library work runs on.
#pragma once

#include <type_traits>

namespace metalloid::mps::cpu {

// Of the team and whoever calls it.
unsigned most_threads();

void run_parts_on_team(unsigned parts, void (*part)(void* data, unsigned index), void* data);

// Calls `part(index)` for so many parts, on the team's threads as they come, and on the caller's alone if they do not.
template <class Part>
void run_parts_on_team(unsigned parts, Part&& part) {
  using Object = std::remove_reference_t<Part>;
  run_parts_on_team(parts, [](void* data, unsigned index) { (*static_cast<Object*>(data))(index); }, &part);
}

}  // namespace metalloid::mps::cpu
