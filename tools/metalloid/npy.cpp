#include "npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <regex>

#include "files.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Failure{exit_file_error, fmt::format("{}: {}", path, why)};
}

// The header is a Python dictionary with three known keys.
std::string find_value(const std::string& header, const std::string& key, const std::string& pattern,
                       const std::string& path) {
  std::smatch match;
  if (!std::regex_search(header, match, std::regex("'" + key + "'\\s*:\\s*" + pattern)))
    refuse(path, fmt::format("the .npy header has no readable '{}'", key));
  return match[1];
}

std::vector<uint64_t> parse_shape(const std::string& text, const std::string& path) {
  std::vector<uint64_t> shape;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    uint64_t extent = 0;
    auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc()) refuse(path, "the .npy header's shape is not readable");
    shape.push_back(extent);
    at = next;
  }
  return shape;
}

}  // namespace

Array read_npy(const std::string& path) {
  const std::string file = read_input(path);
  if (file.size() < 10 || !file.starts_with(magic)) refuse(path, "this is no .npy file");
  const bool is_long = file[6] > 1;
  if (file.size() < 12) refuse(path, "the .npy file is cut short");
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(file[i])); };
  const size_t start = is_long ? 12 : 10;
  const size_t length = byte(8) | byte(9) << 8 | (is_long ? byte(10) << 16 | byte(11) << 24 : 0);
  if (file.size() - start < length) refuse(path, "the .npy file is cut short");
  const std::string header = file.substr(start, length);

  Array array;
  const std::string description = find_value(header, "descr", "'([^']*)'", path);
  array.type = element_type_of_npy(description);
  if (!array.type) refuse(path, fmt::format("elements of type '{}' have no counterpart in Metal", description));
  if (find_value(header, "fortran_order", "(True|False)", path) == "True")
    refuse(path, "the array is in Fortran order; save it with numpy.ascontiguousarray");
  array.shape = parse_shape(find_value(header, "shape", "\\(([^)]*)\\)", path), path);
  uint64_t count = 1;
  for (uint64_t extent : array.shape)
    if (__builtin_mul_overflow(count, extent, &count)) refuse(path, "the .npy header's shape is impossible");
  array.bytes = file.substr(start + length);
  if (count > array.bytes.size() / array.type->size) refuse(path, "the .npy file is cut short");
  array.bytes.resize(count * array.type->size);
  return array;
}

void write_npy(const std::string& path, const ElementType& type, const std::vector<uint64_t>& shape,
               std::string_view bytes) {
  const std::string_view description = type.npy.empty() ? element_type_named("u16").npy : type.npy;
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", description,
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr size_t before_header = 10, alignment = 64;
  header.resize((before_header + header.size() + 1 + alignment - 1) / alignment * alignment - before_header - 1, ' ');
  header += '\n';
  std::string file(magic);
  file += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  file += header;
  file += bytes;
  write_output(path, file);
}

}  // namespace metalloid::tool
