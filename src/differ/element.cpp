#include "differ/element.hpp"

#include <cstring>

#include "device/small_float.hpp"

namespace metalloid::differ {

namespace {

template <class T>
T get(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
void put(T value, uint8_t* bytes) {
  std::memcpy(bytes, &value, sizeof value);
}

}  // namespace

double number_at(Element element, const uint8_t* bytes) {
  switch (element) {
    case Element::i8:
      return get<int8_t>(bytes);
    case Element::u8:
      return get<uint8_t>(bytes);
    case Element::i16:
      return get<int16_t>(bytes);
    case Element::u16:
      return get<uint16_t>(bytes);
    case Element::i32:
      return get<int32_t>(bytes);
    case Element::u32:
      return get<uint32_t>(bytes);
    case Element::i64:
      return static_cast<double>(get<int64_t>(bytes));
    case Element::u64:
      return static_cast<double>(get<uint64_t>(bytes));
    case Element::f16:
      return device::from_half(get<uint16_t>(bytes));
    case Element::bf16:
      return device::from_bfloat(get<uint16_t>(bytes));
    case Element::f32:
      return get<float>(bytes);
  }
  return 0;
}

void put_number(Element element, double number, uint8_t* bytes) {
  const ElementInfo& type = info(element);
  if (!type.is_float) {
    const auto whole = static_cast<int64_t>(number);
    std::memcpy(bytes, &whole, type.bytes);  // the low bytes, of either sign
  } else if (element == Element::f32) {
    put(static_cast<float>(number), bytes);
  } else if (element == Element::f16) {
    put(static_cast<uint16_t>(device::to_half(static_cast<float>(number))), bytes);
  } else {
    put(static_cast<uint16_t>(device::to_bfloat(static_cast<float>(number))), bytes);
  }
}

}  // namespace metalloid::differ
