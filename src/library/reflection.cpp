// The words for reflection's values. An enumerator's own name is the word, but for the few whose Metal spelling is not
// an identifier of its own: float1 is "float", texture_2d is "texture2d".
#include <metalloid/reflection.hpp>

#include "library/enum_names.hpp"

namespace metalloid {

bool Type::operator==(const Type&) const = default;

std::string to_string(DataType type) {
  std::string_view name = enum_name<DataType, 128>(type);
  if (type == DataType::structure) return "struct";
  if (name.empty()) return "unknown";
  if (name.ends_with('1')) name.remove_suffix(1);
  return std::string(name);
}

std::string to_string(TextureType type) {
  std::string name(enum_name(type));
  if (type == TextureType::texture_buffer || name.empty()) return name;
  if (size_t multisample = name.find("multisample"); multisample != name.npos) name.replace(multisample, 11, "ms");
  return name.erase(name.find('_'), 1);
}

std::string to_string(Access access) {
  return std::string(enum_name(access));
}

std::string to_string(ParameterKind kind) {
  return std::string(enum_name(kind));
}

std::string to_string(GridValue value) {
  return std::string(enum_name(value));
}

GridValue grid_value_named(std::string_view attribute) {
  return enum_named<GridValue>(attribute).value_or(GridValue::none);
}

std::string to_string(FunctionKind kind) {
  return std::string(enum_name(kind));
}

}  // namespace metalloid
