#include "metal/argument_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "metal/align.hpp"
#include "metal/reflection.hpp"

namespace metalloid::metal {

namespace {

Type sized(DataType data_type, uint64_t size, uint64_t alignment) {
  Type type;
  type.data_type = data_type;
  type.size = size;
  type.alignment = static_cast<uint32_t>(alignment);
  return type;
}

// Vectors of three are as large as those of four.
uint64_t vector_size(uint64_t scalar, uint64_t elements) {
  return scalar * (elements == 3 ? 4 : elements);
}

// A scalar, vector, matrix or handle; without a size if no struct has such a member.
Type plain_type(DataType data_type) {
  struct Family {
    DataType first;
    uint64_t scalar;
  };
  static constexpr Family vectors[] = {
      {DataType::float1, 4}, {DataType::half1, 2},   {DataType::int1, 4},   {DataType::uint1, 4},
      {DataType::short1, 2}, {DataType::ushort1, 2}, {DataType::char1, 1},  {DataType::uchar1, 1},
      {DataType::bool1, 1},  {DataType::long1, 8},   {DataType::ulong1, 8}, {DataType::bfloat1, 2},
  };
  static constexpr Family matrices[] = {{DataType::float2x2, 4}, {DataType::half2x2, 2}};
  const auto place_in = [data_type](Family family) {
    return static_cast<uint64_t>(static_cast<uint16_t>(data_type)) - static_cast<uint16_t>(family.first);
  };
  for (const Family family : vectors) {
    if (place_in(family) > 3) continue;
    const uint64_t size = vector_size(family.scalar, place_in(family) + 1);
    return sized(data_type, size, size);
  }
  for (const Family family : matrices) {
    if (place_in(family) > 8) continue;
    const uint64_t columns = 2 + place_in(family) / 3, column = vector_size(family.scalar, 2 + place_in(family) % 3);
    return sized(data_type, columns * column, column);
  }
  switch (data_type) {
    case DataType::texture:
    case DataType::sampler:
    case DataType::pointer:
    case DataType::compute_pipeline:
    case DataType::render_pipeline:
    case DataType::indirect_command_buffer:
    case DataType::visible_function_table:
    case DataType::intersection_function_table:
    case DataType::primitive_acceleration_structure:
    case DataType::instance_acceleration_structure:
      return sized(data_type, 8, 8);
    default:
      return sized(data_type, 0, 1);
  }
}

Type array_of(Type element, uint64_t length) {
  Type array = sized(DataType::array, element.size * length, element.alignment);
  array.array_length = length;
  array.element.push_back(std::move(element));
  return array;
}

const Type* struct_named(const std::string& name, const Type& type) {
  if (type.data_type == DataType::structure && type.name == name && !type.members.empty()) return &type;
  for (const Type& element : type.element)
    if (const Type* found = struct_named(name, element)) return found;
  for (const StructMember& member : type.members)
    if (const Type* found = struct_named(name, member.type)) return found;
  return nullptr;
}

}  // namespace

std::optional<ArgumentPlace> find_argument(const Type& type, uint64_t index) {
  const auto within = [](const Type& part, uint64_t place, uint64_t offset) {
    auto found = find_argument(part, place);
    if (found) found->offset += offset;
    return found;
  };
  if (type.data_type == DataType::array && !type.element.empty()) {
    const uint64_t indices = argument_indices(type.element[0]);
    if (indices == 0 || index / indices >= type.array_length) return std::nullopt;
    return within(type.element[0], index % indices, index / indices * (type.size / type.array_length));
  }
  if (type.data_type == DataType::structure) {
    const StructMember* last = nullptr;
    for (const StructMember& member : type.members)
      if (member.argument_index <= index && (!last || member.argument_index > last->argument_index)) last = &member;
    if (last) return within(last->type, index - last->argument_index, last->offset);
    return std::nullopt;
  }
  if (index != 0) return std::nullopt;
  return ArgumentPlace{0, &type};
}

Result<Type> struct_of(std::vector<ArgumentProperties> arguments) {
  std::ranges::sort(arguments, {}, &ArgumentProperties::index);
  Type structure = sized(DataType::structure, 0, 1);
  uint64_t next_index = 0;
  for (const ArgumentProperties& argument : arguments) {
    StructMember member;
    member.argument_index = static_cast<uint32_t>(argument.index);
    member.type = plain_type(static_cast<DataType>(argument.dataType));
    if (member.type.size == 0)
      return Error{fmt::format("data type {} of argument {} cannot be in an argument buffer",
                               static_cast<NS::UInteger>(argument.dataType), argument.index)};
    if (argument.index < next_index) return Error{fmt::format("two arguments have the index {}", argument.index)};
    const uint64_t alignment = std::max<uint64_t>(member.type.alignment, argument.constantBlockAlignment);
    member.type.access = static_cast<Access>(argument.access);
    member.type.texture_type = static_cast<TextureType>(argument.textureType);
    if (argument.arrayLength > 1) member.type = array_of(std::move(member.type), argument.arrayLength);
    next_index = argument.index + std::max<NS::UInteger>(argument.arrayLength, 1);
    member.offset = align(structure.size, alignment);
    structure.size = member.offset + member.type.size;
    structure.alignment = static_cast<uint32_t>(std::max<uint64_t>(structure.alignment, alignment));
    structure.members.push_back(std::move(member));
  }
  structure.size = align(structure.size, structure.alignment);
  return structure;
}

const Type* pointee(const Type& pointer, const Type& root) {
  if (pointer.data_type != DataType::pointer || pointer.element.empty()) return nullptr;
  const Type& element = pointer.element[0];
  if (element.data_type != DataType::structure || !element.members.empty()) return &element;
  return struct_named(element.name, root);
}

}  // namespace metalloid::metal
