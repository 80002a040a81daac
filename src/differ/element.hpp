// The scalar types of buffers, by their Metal names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace metalloid::differ {

enum class Element : uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 };

struct ElementInfo {
  std::string_view name;
  size_t bytes;
  bool is_float;
  double tolerance;  // how far two correct results may lie apart, relative to what is above 1
};

// Math functions of float are a few units in the last place off, more in fast math; those of half and bfloat are
// computed in float and rounded, perhaps to either side, and a kernel's few operations add up.
constexpr std::array<ElementInfo, 11> elements = {{{"char", 1, false, 0},
                                                   {"uchar", 1, false, 0},
                                                   {"short", 2, false, 0},
                                                   {"ushort", 2, false, 0},
                                                   {"int", 4, false, 0},
                                                   {"uint", 4, false, 0},
                                                   {"long", 8, false, 0},
                                                   {"ulong", 8, false, 0},
                                                   {"half", 2, true, 1.0 / 256},
                                                   {"bfloat", 2, true, 1.0 / 32},
                                                   {"float", 4, true, 1e-5}}};

constexpr const ElementInfo& info(Element element) {
  return elements[static_cast<size_t>(element)];
}

constexpr std::optional<Element> element_named(std::string_view name) {
  for (size_t i = 0; i < elements.size(); ++i)
    if (elements[i].name == name) return static_cast<Element>(i);
  return {};
}

// One element as a number, and the other way round; integers of 64 bits lose what a double cannot say.
double number_at(Element element, const uint8_t* bytes);
void put_number(Element element, double number, uint8_t* bytes);

}  // namespace metalloid::differ
