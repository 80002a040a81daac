#include "element_type.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "device/small_float.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

using enum ElementKind;
constexpr ElementType types[] = {
    {"f32", "<f4", floating, 4},         {"f16", "<f2", floating, 2},         {"bf16", "", bfloat, 2},
    {"i8", "|i1", signed_integer, 1},    {"i16", "<i2", signed_integer, 2},   {"i32", "<i4", signed_integer, 4},
    {"i64", "<i8", signed_integer, 8},   {"u8", "|u1", unsigned_integer, 1},  {"u16", "<u2", unsigned_integer, 2},
    {"u32", "<u4", unsigned_integer, 4}, {"u64", "<u8", unsigned_integer, 8}, {"bool", "|b1", boolean, 1},
};

template <class T>
T read(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class T>
void write(T value, void* destination) {
  std::memcpy(destination, &value, sizeof value);
}

int64_t read_signed(const void* element, size_t size) {
  switch (size) {
    case 1:
      return read<int8_t>(element);
    case 2:
      return read<int16_t>(element);
    case 4:
      return read<int32_t>(element);
    default:
      return read<int64_t>(element);
  }
}

uint64_t read_unsigned(const void* element, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, element, size);
  return value;
}

}  // namespace

const ElementType& element_type_named(std::string_view name) {
  std::string known;
  for (const ElementType& type : types) {
    if (type.name == name) return type;
    known += (known.empty() ? "" : ", ") + std::string(type.name);
  }
  throw Failure{exit_usage_error, fmt::format("\"{}\" is no type of elements: use one of {}", name, known)};
}

const ElementType* element_type_of_npy(std::string_view description) {
  for (const ElementType& type : types)
    if (!type.npy.empty() && type.npy.substr(1) == description.substr(std::min<size_t>(1, description.size())) &&
        !description.starts_with('>'))
      return &type;
  return nullptr;
}

void store_number(const ElementType& type, double value, void* destination) {
  switch (type.kind) {
    case floating:
      if (type.size == 4) return write(static_cast<float>(value), destination);
      return write(static_cast<uint16_t>(device::to_half(static_cast<float>(value))), destination);
    case bfloat:
      return write(static_cast<uint16_t>(device::to_bfloat(static_cast<float>(value))), destination);
    case boolean:
      return write(static_cast<uint8_t>(value != 0), destination);
    case signed_integer:
    case unsigned_integer:
      store_integer(type, static_cast<int64_t>(std::clamp(std::trunc(value), -0x1p63, 0x1.fffffffffffffp62)),
                    destination);
  }
}

void store_integer(const ElementType& type, int64_t value, void* destination) {
  if (type.kind == signed_integer || type.kind == unsigned_integer)
    std::memcpy(destination, &value, type.size);
  else
    store_number(type, static_cast<double>(value), destination);
}

std::string show_element(const ElementType& type, const void* element) {
  switch (type.kind) {
    case floating:
      return fmt::format("{:.6g}", type.size == 4 ? read<float>(element) : device::from_half(read<uint16_t>(element)));
    case bfloat:
      return fmt::format("{:.4g}", device::from_bfloat(read<uint16_t>(element)));
    case signed_integer:
      return fmt::format("{}", read_signed(element, type.size));
    case unsigned_integer:
      return fmt::format("{}", read_unsigned(element, type.size));
    case boolean:
      return read<uint8_t>(element) ? "true" : "false";
  }
  return "";
}

}  // namespace metalloid::tool
