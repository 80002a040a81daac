// A library with something of everything, for tests and as the seed of the fuzzer; and the means to damage one.
#pragma once

#include <metalloid/library.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>

#include "library/bytes.hpp"
#include "library/format.hpp"

namespace metalloid::sample {

// Hands out what it was given, and counts how often.
class GivenCode : public CodeProvider {
 public:
  explicit GivenCode(std::vector<Code> code) : code_(std::move(code)) {}

  Result<std::shared_ptr<const Code>> code(size_t function) override {
    ++calls;
    if (code_[function].bitcode.empty()) return Error{"this function has no code"};
    return std::make_shared<const Code>(code_[function]);
  }

  std::atomic<size_t> calls = 0;

 private:
  const std::vector<Code> code_;
};

inline Type scalar(DataType data_type, uint64_t size) {
  Type type;
  type.data_type = data_type;
  type.size = size;
  type.alignment = static_cast<uint32_t>(size);
  return type;
}

inline Type array_of(Type element, uint64_t length) {
  Type type;
  type.data_type = DataType::array;
  type.size = element.size * length;
  type.alignment = element.alignment;
  type.array_length = length;
  type.element = {std::move(element)};
  return type;
}

inline Type pointer_to(Type element, Access access) {
  Type type = scalar(DataType::pointer, 8);
  type.access = access;
  type.element = {std::move(element)};
  return type;
}

inline Type texture(TextureType texture_type, DataType data_type, Access access) {
  Type type = scalar(DataType::texture, 8);
  type.texture_type = texture_type;
  type.texture_data_type = data_type;
  type.access = access;
  return type;
}

inline Type structure(std::string name, uint64_t size, uint32_t alignment, std::vector<StructMember> members) {
  Type type;
  type.data_type = DataType::structure;
  type.size = size;
  type.alignment = alignment;
  type.name = std::move(name);
  type.members = std::move(members);
  return type;
}

inline Function softmax() {
  const Type shape = structure(
      "Shape", 8, 4, {{"rows", 0, 0, scalar(DataType::uint1, 4)}, {"columns", 4, 1, scalar(DataType::uint1, 4)}});
  const Type node = structure("Node", 16, 8,
                              {{"value", 0, 0, scalar(DataType::float1, 4)},
                               {"next", 8, 1, pointer_to(structure("Node", 16, 8, {}), Access::read_write)}});
  const Type arguments =
      structure("Arguments", 96, 16,
                {{"shape", 0, 0, shape},
                 {"weights", 16, 3, array_of(array_of(scalar(DataType::half4, 8), 2), 3)},
                 {"list", 64, 7, pointer_to(node, Access::read_write)},
                 {"image", 72, 8, texture(TextureType::texture_2d_array, DataType::half1, Access::write)}});
  Function function;
  function.name = "softmax_float32";
  function.source_name = "softmax<float>";
  function.location = {"kernels/softmax.metal", 12, 6};
  function.max_total_threads_per_threadgroup = 256;
  function.parameters = {
      {"input", ParameterKind::buffer, GridValue::none, 0, 1, false, Access::read, scalar(DataType::float1, 4), ""},
      {"output", ParameterKind::buffer, GridValue::none, 1, 1, false, Access::write, scalar(DataType::float1, 4), ""},
      {"arguments", ParameterKind::buffer, GridValue::none, 2, 1, true, Access::read, arguments, ""},
      {"mask", ParameterKind::buffer, GridValue::none, 5, 4, false, Access::read, scalar(DataType::bool1, 1), "masked",
       0},
      {"scratch", ParameterKind::threadgroup_memory, GridValue::none, 0, 1, false, Access::read_write,
       scalar(DataType::float1, 4), ""},
      {"image", ParameterKind::texture, GridValue::none, 0, 1, false, Access::read,
       texture(TextureType::texture_2d, DataType::float1, Access::read), ""},
      {"nearest", ParameterKind::sampler, GridValue::none, 0, 1, false, Access::read, scalar(DataType::sampler, 8), ""},
      {"row", ParameterKind::grid_value, GridValue::threadgroup_position_in_grid, 0, 1, false, Access::read,
       scalar(DataType::uint1, 4), ""},
      {"lane", ParameterKind::grid_value, GridValue::thread_index_in_simdgroup, 0, 1, false, Access::read,
       scalar(DataType::uint1, 4), ""},
  };
  return function;
}

inline Function simple(std::string name, uint32_t line) {
  Function function;
  function.name = name;
  function.source_name = std::move(name);
  function.location = {"kernels/simple.metal", line, 1};
  function.parameters = {{"data", ParameterKind::buffer, GridValue::none, 0, 1, false, Access::read_write,
                          scalar(DataType::float4, 16), ""}};
  return function;
}

inline Function visible() {
  Function function = simple("scale", 40);
  function.kind = FunctionKind::visible;
  function.parameters[0].kind = ParameterKind::value;
  return function;
}

inline Code code(std::string entry, uint8_t content, size_t size = 100) {
  Code code;
  code.entry = std::move(entry);
  code.bitcode.assign(size, content);
  return code;
}

inline const std::vector<FunctionConstant> constants = {{"masked", 0, DataType::bool1, true},
                                                        {"tile", 10, DataType::ushort2, false}};

inline std::shared_ptr<Library> rich_library() {
  Code softmax_code = code("_Z7softmaxIfEvv", 1, 300);
  softmax_code.static_threadgroup_memory = 4096;
  softmax_code.function_constants = constants;
  softmax_code.undefined = {"_Z1ff", "_Z1gf"};
  auto library = std::make_shared<Library>(
      std::vector<Function>{softmax(), simple("copy", 3), simple("same_as_copy", 9), visible()}, constants,
      std::make_shared<GivenCode>(std::vector<Code>{softmax_code, code("copy", 2), code("copy", 2), code("scale", 3)}));
  const auto ready = [](std::string function, std::string form, std::string key) {
    return DeviceCode{std::move(function), "sm_90", form, key, [=]() -> Result<std::string> { return form + key; }};
  };
  library->add_device_code({ready("copy", "PTX", "11"), ready("copy", "cubin", "12"), ready("scale", "PTX", "13")});
  return library;
}

inline std::vector<uint8_t> rich_file() {
  return *rich_library()->serialise();
}

// Makes the checksums of the header and of the indices right again, where there is enough of a file to have them:
// damage that somebody made on purpose.
inline void reseal(std::vector<uint8_t>& file) {
  const auto put = [&](size_t at, uint64_t value) {
    for (size_t i = 0; i < 8; ++i) file[at + i] = static_cast<uint8_t>(value >> (8 * i));
  };
  if (file.size() < format::header_size) return;
  const uint64_t sections = ByteReader(Bytes(file).subspan(12)).fixed32();
  if (sections > (file.size() - format::header_size) / format::section_entry_size) return;
  put(32, file.size());
  std::vector<uint8_t> checked(file.begin(), file.begin() + format::checked_header_size);
  for (uint64_t i = 0; i < sections; ++i) {
    const size_t entry = format::header_size + i * format::section_entry_size;
    ByteReader reader(Bytes(file).subspan(entry));
    const std::string_view name = reader.padded_text(format::section_name_width);
    const bool is_index = name == format::index_section || name == format::device_index_section;
    const uint64_t offset = reader.fixed64(), size = reader.fixed64();
    if (is_index && offset <= file.size() && size <= file.size() - offset)
      put(entry + 24, XXH3_64bits(file.data() + offset, size));
    checked.insert(checked.end(), file.begin() + entry, file.begin() + entry + format::section_entry_size);
  }
  put(format::checked_header_size, XXH3_64bits(checked.data(), checked.size()));
}

}  // namespace metalloid::sample
