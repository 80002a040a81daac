// The names of an enum's values, taken by the compiler from the enum itself, so that there is no second list to keep
// in step. Works for values from 0 to `Limit`; the compiler spells a value without an enumerator as a cast, "(E)7",
// and that is how gaps and the end are told.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace metalloid {

template <auto Value>
constexpr std::string_view enumerator_name() {
  std::string_view spelling = __PRETTY_FUNCTION__;  // "... [with auto Value = metalloid::Access::read; ...]"
  spelling.remove_prefix(spelling.find("Value = ") + 8);
  spelling = spelling.substr(0, spelling.find_first_of(";]"));
  if (spelling.find('(') != spelling.npos) return {};
  return spelling.substr(spelling.rfind(':') + 1);
}

template <class Enum, size_t Limit = 64>
inline constexpr auto enum_names = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<std::string_view, Limit>{enumerator_name<static_cast<Enum>(I)>()...};
}(std::make_index_sequence<Limit>{});

// Empty for a value that the enum does not have.
template <class Enum, size_t Limit = 64>
constexpr std::string_view enum_name(Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < Limit ? enum_names<Enum, Limit>[index] : std::string_view();
}

template <class Enum, size_t Limit = 64>
constexpr std::optional<Enum> enum_named(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (size_t i = 0; i < Limit; ++i)
    if (enum_names<Enum, Limit>[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace metalloid
