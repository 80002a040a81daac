#include "differ/made_up_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "device/pipeline.hpp"
#include "differ/random.hpp"

namespace metalloid::differ {

namespace {

constexpr uint32_t bytes_of_buffer = 1 << 18;
constexpr uint32_t threadgroup_memory = 32768;  // all that there is
constexpr uint32_t texels_a_side = 32;          // of textures

// Scalars of a name with its vectors behind it, in the order of DataType.
struct ScalarType {
  DataType first;
  Element element;
  bool is_bool = false;
};
constexpr std::array scalar_types = {
    ScalarType{DataType::float1, Element::f32},   ScalarType{DataType::half1, Element::f16},
    ScalarType{DataType::bfloat1, Element::bf16}, ScalarType{DataType::int1, Element::i32},
    ScalarType{DataType::uint1, Element::u32},    ScalarType{DataType::short1, Element::i16},
    ScalarType{DataType::ushort1, Element::u16},  ScalarType{DataType::char1, Element::i8},
    ScalarType{DataType::uchar1, Element::u8},    ScalarType{DataType::bool1, Element::u8, true},
    ScalarType{DataType::long1, Element::i64},    ScalarType{DataType::ulong1, Element::u64}};

struct Vector {
  ScalarType scalar;
  uint32_t count;
};

std::optional<Vector> vector_of(DataType type) {
  for (const ScalarType& scalar : scalar_types) {
    const uint32_t number = static_cast<uint32_t>(type) - static_cast<uint32_t>(scalar.first);
    if (number < 4) return Vector{scalar, number + 1};
  }
  return {};
}

// float2x2 … float4x4 and half2x2 … half4x4: columns, each as far from the next as a vector of its length.
struct Matrix {
  Element element;
  uint32_t columns, rows;
};

std::optional<Matrix> matrix_of(DataType type) {
  for (const auto [first, element] : {std::pair(DataType::float2x2, Element::f32), {DataType::half2x2, Element::f16}}) {
    const uint32_t number = static_cast<uint32_t>(type) - static_cast<uint32_t>(first);
    if (number < 9) return Matrix{element, 2 + number / 3, 2 + number % 3};
  }
  return {};
}

struct MadeUpField {
  StructuredArgument::Field field;
  bool is_bool = false;
};

// The scalars of a type, from an offset on. An error if it has others.
Status append_fields(const Type& type, uint32_t offset, std::vector<MadeUpField>& fields) {
  const auto append = [&](Element element, uint32_t at, bool is_bool = false) {
    fields.push_back({{element, at}, is_bool});
  };
  if (const auto vector = vector_of(type.data_type)) {
    for (uint32_t i = 0; i < vector->count; ++i)
      append(vector->scalar.element, offset + i * static_cast<uint32_t>(info(vector->scalar.element).bytes),
             vector->scalar.is_bool);
    return success();
  }
  if (const auto matrix = matrix_of(type.data_type)) {
    const auto size = static_cast<uint32_t>(info(matrix->element).bytes);
    for (uint32_t column = 0; column < matrix->columns; ++column)
      for (uint32_t row = 0; row < matrix->rows; ++row)
        append(matrix->element, offset + (column * (matrix->rows == 3 ? 4 : matrix->rows) + row) * size);
    return success();
  }
  if (type.data_type == DataType::structure) {
    for (const StructMember& member : type.members)
      if (auto status = append_fields(member.type, offset + static_cast<uint32_t>(member.offset), fields); !status)
        return status;
    return success();
  }
  if (type.data_type == DataType::array && !type.element.empty()) {
    for (uint64_t i = 0; i < type.array_length; ++i)
      if (auto status =
              append_fields(type.element[0], offset + static_cast<uint32_t>(i * type.element[0].size), fields);
          !status)
        return status;
    return success();
  }
  return Error{fmt::format("what is in a {} is not made up", to_string(type.data_type))};
}

// A size, a stride, a count or an index: mostly powers of two.
uint32_t made_up_size(Random& random) {
  constexpr uint32_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64, 3, 5, 7, 20, 33};
  return random.one_of(sizes);
}

void put_made_up(const MadeUpField& made, Random& random, uint8_t* bytes) {
  const Element element = made.field.element;
  double number = 0;
  if (info(element).is_float)
    number = random.between(-2, 2);
  else if (made.is_bool)
    number = random.below(2);
  else
    number = made_up_size(random);
  put_number(element, number, bytes);
}

// Bytes are anything to a kernel that casts the pointer: pairs of them are halves between 1/8 and 1, and fours small
// floats.
void put_bytes(Random& random, std::vector<uint8_t>& bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i % 2 ? 0x30 + random.below(0xC) : random.below(256));
}

bool is_of_bytes(const std::vector<MadeUpField>& fields) {
  return fields.size() == 1 && info(fields[0].field.element).bytes == 1 && !fields[0].is_bool;
}

Result<Argument> made_up_buffer(const Type& type, Random& random) {
  std::vector<MadeUpField> fields;
  if (type.data_type == DataType::none)  // void*
    fields.push_back({{Element::u8, 0}});
  else if (auto status = append_fields(type, 0, fields); !status)
    return Error{status.error()};
  StructuredArgument argument;
  for (const MadeUpField& made : fields) argument.fields.push_back(made.field);
  argument.stride = static_cast<uint32_t>(std::max<uint64_t>(1, type.size));
  argument.bytes.resize(std::max<uint32_t>(1, bytes_of_buffer / argument.stride) * argument.stride);
  if (is_of_bytes(fields)) {
    put_bytes(random, argument.bytes);
    return Argument(std::move(argument));
  }
  for (size_t at = 0; at < argument.bytes.size(); at += argument.stride)
    for (const MadeUpField& made : fields) put_made_up(made, random, argument.bytes.data() + at + made.field.offset);
  return Argument(std::move(argument));
}

Result<Argument> made_up_texture(const Type& type) {
  const auto texel = vector_of(type.texture_data_type);
  const bool is_array = type.texture_type == TextureType::texture_2d_array;
  if (!texel || (!is_array && type.texture_type != TextureType::texture_2d))
    return Error{fmt::format("what is in a {} is not made up", to_string(type.texture_type))};
  constexpr unsigned rgba8uint = 73, rgba32sint = 124, rgba32float = 125;  // MTLPixelFormat
  TextureArgument texture;
  texture.width = texture.height = texels_a_side;
  texture.slices = is_array ? 4 : 1;
  texture.channels = 4;
  texture.element = info(texel->scalar.element).is_float                                             ? Element::f32
                    : texel->scalar.element == Element::u32 || texel->scalar.element == Element::u16 ? Element::u8
                                                                                                     : Element::i32;
  texture.pixel_format = texture.element == Element::f32  ? rgba32float
                         : texture.element == Element::u8 ? rgba8uint
                                                          : rgba32sint;
  return Argument(texture);
}

// How many of a grid's dimensions the kernel asks for; one if it asks for no position.
uint32_t dimensions_of(const Function& kernel) {
  uint32_t dimensions = 1;
  for (const Parameter& parameter : kernel.parameters)
    if (const auto vector = vector_of(parameter.type.data_type); vector && parameter.kind == ParameterKind::grid_value)
      dimensions = std::max(dimensions, vector->count);
  return dimensions;
}

Launch made_up_launch(const Function& kernel, Random& random) {
  constexpr device::Size sizes[] = {{32, 1, 1},   {64, 1, 1},  {128, 1, 1}, {256, 1, 1}, {256, 1, 1}, {512, 1, 1},
                                    {1024, 1, 1}, {100, 1, 1}, {8, 1, 1},   {8, 8, 1},   {16, 16, 1}, {32, 2, 1},
                                    {32, 4, 1},   {32, 8, 1},  {32, 32, 1}, {12, 5, 1},  {4, 4, 4},   {32, 2, 2}};
  const uint32_t dimensions = dimensions_of(kernel);
  const uint32_t most = std::max(8U, kernel.max_total_threads_per_threadgroup.value_or(1024));
  device::Size size;
  do {
    size = random.one_of(sizes);
  } while (size.count() > most || (size.y > 1 && dimensions < 2) || (size.z > 1 && dimensions < 3));
  Launch launch{.grid = size, .threadgroup = size};
  launch.grid.x *= 1 + random.below(3);
  if (dimensions > 1) launch.grid.y *= 1 + random.below(3);
  if (dimensions > 2) launch.grid.z *= 1 + random.below(2);
  if (random.chance(20)) launch.grid.x -= random.below(size.x);
  if (random.chance(20)) launch.grid.y -= random.below(size.y);
  return launch;
}

}  // namespace

Result<std::vector<device::ConstantValue>> made_up_constants(const Library& library, const std::string& kernel,
                                                             uint64_t seed) {
  const auto code = library.code(kernel);
  if (!code) return Error{code.error()};
  Random random(seed);
  std::vector<device::ConstantValue> values;
  for (const FunctionConstant& constant : (*code)->function_constants) {
    const auto vector = vector_of(constant.data_type);
    if (!vector)
      return Error{fmt::format("function constant '{}' is a {}", constant.name, to_string(constant.data_type))};
    const size_t size = info(vector->scalar.element).bytes;
    device::ConstantValue value{constant.index, std::vector<uint8_t>((vector->count == 3 ? 4 : vector->count) * size)};
    for (uint32_t i = 0; i < vector->count; ++i) {
      const bool truth = seed == 0 || (seed > 1 && random.chance(50));
      put_number(vector->scalar.element, vector->scalar.is_bool ? truth : 1U << random.below(4),
                 &value.bytes[i * size]);
    }
    values.push_back(std::move(value));
  }
  std::ranges::sort(values, {}, &device::ConstantValue::index);
  return values;
}

Result<KernelCase> made_up_case(const Library& library, const Function& kernel, uint64_t seed) {
  auto constants = made_up_constants(library, kernel.name, seed);
  if (!constants) return Error{constants.error()};
  const auto code = library.code(kernel.name);
  if (!code) return Error{code.error()};
  Random random(seed + 1);
  KernelCase made;
  made.kernel = kernel.name;
  made.seed = seed;
  made.tolerance = 0.05;  // sums of many halves, in whatever order
  made.constants = std::move(*constants);

  const auto slots = device::argument_slots(kernel, made.constants);
  const auto shares =
      static_cast<uint32_t>(std::ranges::count(slots, ParameterKind::threadgroup_memory, &device::Slot::kind));
  const auto left = threadgroup_memory -
                    static_cast<uint32_t>(std::min<uint64_t>(threadgroup_memory, (*code)->static_threadgroup_memory));
  for (const device::Slot& slot : slots) {
    const Parameter& parameter = kernel.parameters[slot.parameter];
    Result<Argument> argument = Error{fmt::format("no {} is made up", to_string(slot.kind))};
    if (slot.kind == ParameterKind::buffer) argument = made_up_buffer(parameter.type, random);
    if (slot.kind == ParameterKind::texture) argument = made_up_texture(parameter.type);
    if (slot.kind == ParameterKind::sampler) argument = Argument(device::Sampler{});
    if (slot.kind == ParameterKind::threadgroup_memory)
      argument = Argument(ThreadgroupArgument{left / shares / 16 * 16});
    if (!argument) return Error{fmt::format("argument '{}': {}", parameter.name, argument.error())};
    made.arguments.push_back(std::move(*argument));
  }
  made.launches = {made_up_launch(kernel, random)};
  return made;
}

}  // namespace metalloid::differ
