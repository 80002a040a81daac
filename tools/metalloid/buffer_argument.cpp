#include "buffer_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "files.hpp"
#include "npy.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

constexpr uint64_t largest_buffer = uint64_t{1} << 40;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Failure{exit_usage_error, fmt::format("--buffer {}: {}", text, why)};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "1024" or "32x32"; none if it is no shape.
std::optional<std::vector<uint64_t>> shape_in(const std::string& text) {
  std::vector<uint64_t> shape;
  for (const std::string& part : split(text, 'x')) {
    auto extent = number_in<uint64_t>(part);
    if (!extent) return std::nullopt;
    shape.push_back(*extent);
  }
  return shape;
}

uint64_t count_of(const std::vector<uint64_t>& shape, const std::string& text) {
  uint64_t count = 1;
  for (uint64_t extent : shape)
    if (extent == 0 || __builtin_mul_overflow(count, extent, &count) || count > largest_buffer)
      refuse(text, "a buffer has between 1 element and 2^40");
  return count;
}

void store_text(const ElementType& type, const std::string& number, void* destination, const std::string& text) {
  if (auto integer = number_in<int64_t>(number)) return store_integer(type, *integer, destination);
  if (auto integer = number_in<uint64_t>(number))
    return store_integer(type, static_cast<int64_t>(*integer), destination);
  if (auto real = number_in<double>(number)) return store_number(type, *real, destination);
  refuse(text, fmt::format("\"{}\" is neither a number nor random, ramp, zeros, ones or @FILE", number));
}

void fill(BufferArgument& argument, const std::function<void(uint64_t, void*)>& store, const std::string& text) {
  const size_t size = argument.type->size;
  argument.bytes.resize(count_of(argument.shape, text) * size);
  for (uint64_t i = 0; i < argument.count(); ++i) store(i, argument.bytes.data() + i * size);
}

// Floats between -1 and 1; integers over their whole range if they are small, else 0 to 999: they are often indices.
void fill_random(BufferArgument& argument, std::mt19937_64& random, const std::string& text) {
  const ElementType& type = *argument.type;
  std::uniform_real_distribution<double> uniform(-1, 1);
  fill(
      argument,
      [&](uint64_t, void* element) {
        switch (type.kind) {
          case ElementKind::floating:
          case ElementKind::bfloat:
            return store_number(type, uniform(random), element);
          case ElementKind::boolean:
            return store_integer(type, static_cast<int64_t>(random() & 1), element);
          default:
            return store_integer(type, static_cast<int64_t>(type.size == 1 ? random() : random() % 1000), element);
        }
      },
      text);
}

void take_raw_file(BufferArgument& argument, const std::string& path, const std::string& text) {
  argument.bytes = read_input(path);
  if (argument.bytes.size() % argument.type->size)
    refuse(text, fmt::format("{} has {} bytes, which is no multiple of {}", path, argument.bytes.size(),
                             argument.type->size));
  if (argument.shape.empty()) argument.shape = {argument.count()};
  if (count_of(argument.shape, text) != argument.count())
    refuse(text, fmt::format("{} has {} elements, the shape asks for {}", path, argument.count(),
                             count_of(argument.shape, text)));
}

void take_npy_file(BufferArgument& argument, const std::string& path, const std::string& text) {
  Array array = read_npy(path);
  if (argument.type && argument.type != array.type)
    refuse(text, fmt::format("{} has elements of type {}", path, array.type->name));
  argument.type = array.type;
  argument.shape = std::move(array.shape);
  argument.bytes = std::move(array.bytes);
  if (argument.bytes.empty()) refuse(text, fmt::format("{} is an empty array, and buffers cannot be empty", path));
}

void fill_from(BufferArgument& argument, const std::string& source, std::mt19937_64& random, const std::string& text) {
  if (argument.shape.empty()) argument.shape = {1};
  if (source == "random") return fill_random(argument, random, text);
  const ElementType& type = *argument.type;
  if (source == "ramp")
    return fill(
        argument, [&](uint64_t i, void* element) { store_integer(type, static_cast<int64_t>(i), element); }, text);
  const std::string number = source == "zeros" ? "0" : source == "ones" ? "1" : source;
  fill(argument, [&](uint64_t, void* element) { store_text(type, number, element, text); }, text);
}

void take_numbers(BufferArgument& argument, const std::string& list, const std::string& text) {
  const auto numbers = split(list, ',');
  argument.shape = {numbers.size()};
  fill(argument, [&](uint64_t i, void* element) { store_text(*argument.type, numbers[i], element, text); }, text);
}

}  // namespace

BufferArgument parse_buffer_argument(const std::string& text, std::mt19937_64& random) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    refuse(text, "write KEY=TYPE:CONTENTS:SHAPE, such as 0=f32:random:1024 or sum=out:f32:1024");
  BufferArgument argument;
  argument.key = text.substr(0, equals);
  std::vector<std::string> parts = split(text.substr(equals + 1), ':');
  auto take = [&] {
    std::string part = parts.front();
    parts.erase(parts.begin());
    return part;
  };

  bool is_input = true;
  if (parts.front() == "out" || parts.front() == "inout") {
    argument.is_output = true;
    is_input = take() == "inout";
  }
  if (argument.is_output && parts.size() > 1 && parts.back().starts_with('@')) {
    argument.save_to = parts.back().substr(1);
    parts.pop_back();
  }
  if (parts.empty()) refuse(text, "the type of the elements is missing");
  if (!parts.front().starts_with('@')) argument.type = &element_type_named(take());
  if (parts.empty())
    refuse(text, is_input ? "the contents are missing: random, ramp, zeros, ones, a number or @FILE"
                          : "the shape is missing");

  const std::string source = is_input ? take() : "zeros";
  if (!parts.empty()) {
    auto shape = shape_in(take());
    if (!shape) refuse(text, "a shape is written 1024 or 32x32");
    argument.shape = *shape;
  }
  if (!parts.empty()) refuse(text, fmt::format("\"{}\" is one part too many", parts.front()));

  if (source.starts_with('@')) {
    const std::string path = source.substr(1);
    if (path.ends_with(".npy"))
      take_npy_file(argument, path, text);
    else if (argument.type)
      take_raw_file(argument, path, text);
    else
      refuse(text, "a file of bare numbers needs their type: KEY=f32:@FILE");
  } else if (argument.shape.empty() && number_in<double>(split(source, ',').front())) {
    take_numbers(argument, source, text);
  } else {
    fill_from(argument, source, random, text);
  }
  return argument;
}

std::string show_elements(const ElementType& type, const std::vector<uint64_t>& shape, const void* bytes,
                          uint64_t limit) {
  uint64_t count = 1;
  for (uint64_t extent : shape) count *= extent;
  const uint64_t row = shape.size() > 1 ? shape.back() : count;
  const uint64_t shown = std::min(count, limit);
  std::string text;
  for (uint64_t i = 0; i < shown; ++i) {
    text += show_element(type, static_cast<const char*>(bytes) + i * type.size);
    const bool ends_row = row > 0 && (i + 1) % row == 0;
    if (i + 1 < shown) text += ends_row ? "\n" : " ";
  }
  if (shown < count) text += fmt::format(" ... ({} more)", count - shown);
  return text;
}

}  // namespace metalloid::tool
