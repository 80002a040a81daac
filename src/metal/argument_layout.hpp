// Where the members of an argument buffer lie: exactly where the shader's struct has them. Pointers are addresses, and
// textures, samplers and tables handles of 8 bytes each.
#pragma once

#include <Metal/MTLDevice.hpp>
#include <cstdint>
#include <metalloid/reflection.hpp>
#include <metalloid/result.hpp>
#include <optional>
#include <vector>

#include "metal/property.hpp"

namespace metalloid::metal {

struct ArgumentProperties {
  static constexpr const char* class_name = "MTLArgumentDescriptor";
  MTL::DataType dataType = MTL::DataTypeNone;
  NS::UInteger index = 0;
  NS::UInteger arrayLength = 0;
  MTL::BindingAccess access = MTL::BindingAccessReadOnly;
  MTL::TextureType textureType = MTL::TextureType2D;
  NS::UInteger constantBlockAlignment = 0;
};
PROPERTIES(ArgumentDescriptor, ArgumentProperties)

struct ArgumentPlace {
  uint64_t offset = 0;
  const Type* type = nullptr;
};

// What [[id(index)]] means in a struct or an array: members of arrays and of nested structs have ids of their own.
std::optional<ArgumentPlace> find_argument(const Type& type, uint64_t index);

// The struct that descriptors describe: a member each, in the order of their indices, aligned as the shader aligns it.
Result<Type> struct_of(std::vector<ArgumentProperties> arguments);

// The struct that a pointer points at. Inside of itself a struct is known by name only, so it may be `root` or a part.
const Type* pointee(const Type& pointer, const Type& root);

}  // namespace metalloid::metal
