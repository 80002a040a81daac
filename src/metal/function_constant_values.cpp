#include "metal/function_constant_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "foundation/string.hpp"

namespace metalloid::metal {
namespace {

// Constants are scalars and vectors. A vector of three takes the room of four, in the program's memory too.
struct Layout {
  size_t read = 0;    // bytes that hold the value
  size_t stride = 0;  // bytes from one to the next in an array
};

Layout layout_of(DataType type) {
  struct Scalar {
    DataType first;
    size_t size;
  };
  static constexpr Scalar scalars[] = {
      {DataType::float1, 4}, {DataType::half1, 2},  {DataType::bfloat1, 2}, {DataType::int1, 4},
      {DataType::uint1, 4},  {DataType::short1, 2}, {DataType::ushort1, 2}, {DataType::char1, 1},
      {DataType::uchar1, 1}, {DataType::bool1, 1},  {DataType::long1, 8},   {DataType::ulong1, 8},
  };
  for (const Scalar& scalar : scalars) {
    const int components = static_cast<int>(type) - static_cast<int>(scalar.first) + 1;
    if (components < 1 || components > 4) continue;
    return {scalar.size * components, scalar.size * (components == 3 ? 4 : components)};
  }
  return {};
}

TypedValue typed_value(const void* bytes, MTL::DataType type) {
  const auto data_type = static_cast<DataType>(type);
  const Layout layout = layout_of(data_type);
  TypedValue value{data_type, std::vector<uint8_t>(layout.stride)};
  if (bytes && layout.read != 0) std::memcpy(value.bytes.data(), bytes, layout.read);
  return value;
}

const TypedValue* find(const ConstantValues& values, const FunctionConstant& constant) {
  if (auto found = values.by_name.find(constant.name); found != values.by_name.end()) return &found->second;
  if (auto found = values.by_index.find(constant.index); found != values.by_index.end()) return &found->second;
  return nullptr;
}

}  // namespace

Result<std::vector<FunctionConstant>> used_constants(const Library& library, const Function& function) {
  if (library.function_constants().empty()) return std::vector<FunctionConstant>();
  auto code = library.code(function.name);
  if (!code) return Error{code.error()};
  std::vector<FunctionConstant> constants = (*code)->function_constants;
  for (const Parameter& parameter : function.parameters)  // [[function_constant(x)]] on an argument is a use as well
    for (const FunctionConstant& declared : library.function_constants())
      if (declared.index == parameter.function_constant_index && declared.name == parameter.function_constant &&
          std::ranges::find(constants, declared.index, &FunctionConstant::index) == constants.end())
        constants.push_back(declared);
  std::ranges::sort(constants, {}, &FunctionConstant::index);
  return constants;
}

Result<std::vector<device::ConstantValue>> values_for(const std::vector<FunctionConstant>& constants,
                                                      const ConstantValues& values, const std::string& function) {
  std::vector<device::ConstantValue> result;
  for (const FunctionConstant& constant : constants) {
    const TypedValue* value = find(values, constant);
    if (!value) continue;
    if (value->type != constant.data_type)
      return Error{fmt::format("function '{}': constant '{}' (index {}) is of type {} but was given a value of type {}",
                               function, constant.name, constant.index, to_string(constant.data_type),
                               to_string(value->type))};
    result.push_back({constant.index, value->bytes});
  }
  if (Status complete = check_complete(constants, result, function); !complete) return Error{complete.error()};
  return result;
}

Status check_complete(const std::vector<FunctionConstant>& constants, const std::vector<device::ConstantValue>& values,
                      const std::string& function) {
  std::vector<std::string> missing;
  for (const FunctionConstant& constant : constants)
    if (constant.required && std::ranges::find(values, constant.index, &device::ConstantValue::index) == values.end())
      missing.push_back(
          fmt::format("'{}' ({}, index {})", constant.name, to_string(constant.data_type), constant.index));
  if (missing.empty()) return success();
  return Error{
      fmt::format("function '{}' needs values for the function constant{} {}; make it with "
                  "newFunction(name, constantValues, error)",
                  function, missing.size() == 1 ? "" : "s", fmt::join(missing, ", "))};
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(FunctionConstantValues)

void FunctionConstantValues::setConstantValue(const void* value, DataType type, NS::UInteger index) {
  if (ConstantValues* self = properties(this)) self->by_index[index] = typed_value(value, type);
}

void FunctionConstantValues::setConstantValue(const void* value, DataType type, const NS::String* name) {
  if (ConstantValues* self = properties(this); self && name)
    self->by_name[std::string(metalloid::foundation::text_of(name))] = typed_value(value, type);
}

void FunctionConstantValues::setConstantValues(const void* values, DataType type, NS::Range range) {
  const auto* bytes = static_cast<const uint8_t*>(values);
  const size_t stride = layout_of(static_cast<metalloid::DataType>(type)).stride;
  for (NS::UInteger i = 0; i < range.length; ++i)
    setConstantValue(bytes ? bytes + i * stride : nullptr, type, range.location + i);
}

void FunctionConstantValues::reset() {
  if (ConstantValues* self = properties(this)) *self = {};
}

}  // namespace MTL
