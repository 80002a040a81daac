#include "mps/core/data_type.hpp"

#include <fmt/format.h>

namespace metalloid::mps {
namespace {

struct Entry {
  MPS::DataType type;
  const char* name;
  const char* metal_name;
};

constexpr Entry types[] = {
    {MPS::DataTypeFloat16, "Float16", "half"},
    {MPS::DataTypeFloat32, "Float32", "float"},
    {MPS::DataTypeBFloat16, "BFloat16", "bfloat"},
    {MPS::DataTypeComplexFloat16, "ComplexFloat16", nullptr},
    {MPS::DataTypeComplexFloat32, "ComplexFloat32", nullptr},
    {MPS::DataTypeInt2, "Int2", nullptr},
    {MPS::DataTypeInt4, "Int4", nullptr},
    {MPS::DataTypeInt8, "Int8", "char"},
    {MPS::DataTypeInt16, "Int16", "short"},
    {MPS::DataTypeInt32, "Int32", "int"},
    {MPS::DataTypeInt64, "Int64", "long"},
    {MPS::DataTypeUInt2, "UInt2", nullptr},
    {MPS::DataTypeUInt4, "UInt4", nullptr},
    {MPS::DataTypeUInt8, "UInt8", "uchar"},
    {MPS::DataTypeUInt16, "UInt16", "ushort"},
    {MPS::DataTypeUInt32, "UInt32", "uint"},
    {MPS::DataTypeUInt64, "UInt64", "ulong"},
    {MPS::DataTypeBool, "Bool", "bool"},
    {MPS::DataTypeUnorm1, "Unorm1", nullptr},
    {MPS::DataTypeUnorm8, "Unorm8", nullptr},
};

const Entry* entry_of(MPS::DataType type) {
  for (const Entry& entry : types)
    if (entry.type == type) return &entry;
  return nullptr;
}

}  // namespace

bool is_known(MPS::DataType type) {
  return entry_of(type) != nullptr;
}

std::string name_of(MPS::DataType type) {
  const Entry* entry = entry_of(type);
  return entry ? entry->name : fmt::format("data type {:#x}", static_cast<uint32_t>(type));
}

const char* metal_name_of(MPS::DataType type) {
  const Entry* entry = entry_of(type);
  return entry ? entry->metal_name : nullptr;
}

}  // namespace metalloid::mps
