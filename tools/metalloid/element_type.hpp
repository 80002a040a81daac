// The types of numbers that `metalloid run` fills buffers with and prints: their names, sizes, and how each is made
// from and shown as a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace metalloid::tool {

enum class ElementKind { floating, bfloat, signed_integer, unsigned_integer, boolean };

struct ElementType {
  std::string_view name;  // as on the command line: f32
  std::string_view npy;   // as in an .npy file: <f4; empty if the format has no such type
  ElementKind kind;
  size_t size;
};

// Throws a Failure that lists the types if there is none of that name.
const ElementType& element_type_named(std::string_view name);

// Null if no type is stored that way.
const ElementType* element_type_of_npy(std::string_view description);

// Rounded or wrapped into the type, as a C cast would.
void store_number(const ElementType& type, double value, void* destination);

// The whole range of 64-bit integers, which a double does not hold.
void store_integer(const ElementType& type, int64_t value, void* destination);

std::string show_element(const ElementType& type, const void* element);

}  // namespace metalloid::tool
