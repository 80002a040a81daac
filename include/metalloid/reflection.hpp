// What a library says about its functions: arguments, types, constants and limits. Plain data, filled in by the
// compiler, kept in the library file, read by every device and by the Metal API's reflection objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid {

// clang-format off
// The values are those of MTLDataType, so that the Metal API passes them through.
enum class DataType : uint16_t {
  none = 0, structure = 1, array = 2,
  float1 = 3, float2, float3, float4,
  float2x2 = 7, float2x3, float2x4, float3x2, float3x3, float3x4, float4x2, float4x3, float4x4,
  half1 = 16, half2, half3, half4,
  half2x2 = 20, half2x3, half2x4, half3x2, half3x3, half3x4, half4x2, half4x3, half4x4,
  int1 = 29, int2, int3, int4,
  uint1 = 33, uint2, uint3, uint4,
  short1 = 37, short2, short3, short4,
  ushort1 = 41, ushort2, ushort3, ushort4,
  char1 = 45, char2, char3, char4,
  uchar1 = 49, uchar2, uchar3, uchar4,
  bool1 = 53, bool2, bool3, bool4,
  texture = 58, sampler = 59, pointer = 60,
  render_pipeline = 78, compute_pipeline = 79, indirect_command_buffer = 80,
  long1 = 81, long2, long3, long4,
  ulong1 = 85, ulong2, ulong3, ulong4,
  visible_function_table = 115, intersection_function_table = 116,
  primitive_acceleration_structure = 117, instance_acceleration_structure = 118,
  bfloat1 = 121, bfloat2, bfloat3, bfloat4,
};
// clang-format on

// "float4", "half2x2", "texture": the name Metal source uses.
std::string to_string(DataType type);

// The values are those of MTLBindingAccess.
enum class Access : uint8_t { read = 0, read_write = 1, write = 2 };

std::string to_string(Access access);

// The values are those of MTLTextureType.
enum class TextureType : uint8_t {
  texture_1d = 0,
  texture_1d_array,
  texture_2d,
  texture_2d_array,
  texture_2d_multisample,
  texture_cube,
  texture_cube_array,
  texture_3d,
  texture_2d_multisample_array,
  texture_buffer,
};

// "texture2d", "texture_buffer": the name Metal source uses.
std::string to_string(TextureType type);

struct StructMember;

// A type, down to the members of its structs. `name` is set for structs and enums. A pointer to a struct that is
// being described already (a linked list) has an element with that struct's name and no members.
struct Type {
  DataType data_type = DataType::none;
  uint64_t size = 0;
  uint32_t alignment = 0;
  std::string name;
  std::vector<StructMember> members;  // structure
  std::vector<Type> element;          // array, pointer: one entry
  uint64_t array_length = 0;          // array
  Access access = Access::read;       // pointer, texture
  TextureType texture_type = TextureType::texture_2d;
  DataType texture_data_type = DataType::none;

  bool operator==(const Type&) const;
};

struct StructMember {
  std::string name;
  uint64_t offset = 0;
  uint32_t argument_index = 0;  // [[id(n)]], or its place in the struct
  Type type;

  bool operator==(const StructMember&) const = default;
};

enum class ParameterKind : uint8_t {
  buffer,              // device or constant pointer or reference; `type` is what it points at
  threadgroup_memory,  // dynamic threadgroup memory
  texture,
  sampler,
  visible_function_table,
  grid_value,  // an input the grid provides, see GridValue
  value,       // an ordinary parameter of a visible function
};

std::string to_string(ParameterKind kind);

// The kernel inputs that an attribute asks for, by that attribute's name.
enum class GridValue : uint8_t {
  none,
  thread_position_in_grid,
  thread_position_in_threadgroup,
  thread_index_in_threadgroup,
  thread_index_in_simdgroup,
  thread_index_in_quadgroup,
  threadgroup_position_in_grid,
  threadgroups_per_grid,
  threads_per_grid,
  threads_per_threadgroup,
  dispatch_threads_per_threadgroup,
  simdgroup_index_in_threadgroup,
  simdgroups_per_threadgroup,
  dispatch_simdgroups_per_threadgroup,
  threads_per_simdgroup,
  thread_execution_width,
  quadgroup_index_in_threadgroup,
  quadgroups_per_threadgroup,
  dispatch_quadgroups_per_threadgroup,
  grid_origin,
  grid_size,
};

std::string to_string(GridValue value);

// The other way: none for an attribute that is no kernel input.
GridValue grid_value_named(std::string_view attribute);

struct SourceLocation {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;

  bool operator==(const SourceLocation&) const = default;
};

// Of an argument that always exists, or depends on what is derived from function constants.
inline constexpr uint32_t no_function_constant = UINT32_MAX;

// One parameter of a function, in the order of the function's own parameter list.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::buffer;
  GridValue grid_value = GridValue::none;
  uint32_t index = 0;            // [[buffer(n)]] and such, or what Metal's rules give
  uint32_t array_length = 1;     // arrays of textures, samplers or buffers take consecutive indices
  bool constant_memory = false;  // buffer: in the constant address space
  Access access = Access::read;
  Type type;
  std::string function_constant;                            // the argument exists only if this boolean constant is true
  uint32_t function_constant_index = no_function_constant;  // names may be those of others in merged libraries

  bool operator==(const Parameter&) const = default;
};

struct FunctionConstant {
  std::string name;
  uint32_t index = 0;
  DataType data_type = DataType::none;
  bool required = true;  // false if the source asks is_function_constant_defined() of it

  bool operator==(const FunctionConstant&) const = default;
};

// An external one is for the kernels of other files to call, which linking brings together; its name is its symbol.
enum class FunctionKind : uint8_t { kernel, visible, external };

std::string to_string(FunctionKind kind);

struct Function {
  std::string name;         // the host name: what newFunctionWithName takes
  std::string source_name;  // the name in the source
  FunctionKind kind = FunctionKind::kernel;
  SourceLocation location;
  std::vector<Parameter> parameters;
  std::optional<uint32_t> max_total_threads_per_threadgroup;

  bool operator==(const Function&) const = default;
};

}  // namespace metalloid
