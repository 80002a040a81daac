#include "differ/kernel_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <sstream>

namespace metalloid::differ {

namespace {

using Words = std::vector<std::string>;

struct TextureFormat {
  std::string_view name;
  unsigned pixel_format;  // MTLPixelFormat
  Element element;
  uint32_t channels;
};
constexpr std::array texture_formats = {
    TextureFormat{"rgba8unorm", 70, Element::u8, 4},      TextureFormat{"rgba8uint", 73, Element::u8, 4},
    TextureFormat{"rgba8unorm_srgb", 71, Element::u8, 4}, TextureFormat{"r32uint", 53, Element::u32, 1},
    TextureFormat{"r32float", 55, Element::f32, 1},       TextureFormat{"rgba16float", 115, Element::f16, 4},
    TextureFormat{"rgba32float", 125, Element::f32, 4}};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<uint32_t> to_number(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// 4N, N+1, 100.
bool read_count(std::string_view text, BufferArgument& buffer) {
  const size_t letter = text.find('N');
  if (letter == std::string_view::npos) {
    const auto number = to_number(text);
    buffer.constant = number.value_or(0);
    return number.has_value();
  }
  const auto factor = letter == 0 ? 1 : to_number(text.substr(0, letter));
  const std::string_view rest = text.substr(letter + 1);
  const auto constant = rest.empty() ? 0 : rest[0] == '+' ? to_number(rest.substr(1)) : std::nullopt;
  if (!factor || !constant) return false;
  buffer.per_thread = *factor;
  buffer.constant = *constant;
  return true;
}

bool read_contents(std::string_view text, Contents& contents) {
  constexpr std::string_view names[] = {"random", "special", "zeros", "ramp"};
  if (const auto* name = std::ranges::find(names, text); name != std::end(names)) {
    contents.kind = static_cast<Contents::Kind>(name - names);
    return true;
  }
  if (!text.starts_with("below:")) return false;
  const auto limit = to_number(text.substr(6));
  contents = {Contents::below, limit.value_or(0)};
  return limit && *limit > 0;
}

bool read_size(std::string_view text, device::Size& size) {
  const auto parts = split(text, 'x');
  uint32_t numbers[3] = {1, 1, 1};
  if (parts.size() > 3) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto number = to_number(parts[i]);
    if (!number || *number == 0) return false;
    numbers[i] = *number;
  }
  size = {numbers[0], numbers[1], numbers[2]};
  return true;
}

bool read_buffer(const Words& words, KernelCase& kernel) {
  BufferArgument buffer;
  const auto element = words.size() == 4 ? element_named(words[1]) : std::nullopt;
  if (!element || !read_contents(words[2], buffer.contents) || !read_count(words[3], buffer)) return false;
  buffer.element = *element;
  kernel.arguments.emplace_back(buffer);
  return true;
}

bool read_bytes(const Words& words, KernelCase& kernel) {
  const auto element = words.size() == 3 ? element_named(words[1]) : std::nullopt;
  if (!element) return false;
  BytesArgument argument;
  for (const std::string& number : split(words[2], ',')) {
    argument.bytes.resize(argument.bytes.size() + info(*element).bytes);
    put_number(*element, std::strtod(number.c_str(), nullptr),
               argument.bytes.data() + argument.bytes.size() - info(*element).bytes);
  }
  kernel.arguments.emplace_back(argument);
  return true;
}

bool read_texture(const Words& words, KernelCase& kernel) {
  TextureArgument texture;
  device::Size size;
  if (words.size() != 4 || !read_contents(words[2], texture.contents) || !read_size(words[3], size)) return false;
  const auto* format = std::ranges::find(texture_formats, words[1], &TextureFormat::name);
  if (format == texture_formats.end()) return false;
  texture.pixel_format = format->pixel_format;
  texture.element = format->element;
  texture.channels = format->channels;
  texture.width = size.x;
  texture.height = size.y;
  kernel.arguments.emplace_back(texture);
  return true;
}

bool read_sampler(const Words& words, KernelCase& kernel) {
  device::Sampler sampler;
  for (const std::string& word : std::span(words).subspan(1)) {
    if (word == "linear")
      sampler.magnification = sampler.minification = device::Filter::linear;
    else if (word == "repeat")
      std::ranges::fill(sampler.address, device::AddressMode::repeat);
    else
      return false;
  }
  kernel.arguments.emplace_back(sampler);
  return true;
}

bool read_launch(const Words& words, KernelCase& kernel) {
  Launch launch;
  if (words.size() != 4 || words[2] != "group" || !read_size(words[1], launch.grid) ||
      !read_size(words[3], launch.threadgroup))
    return false;
  kernel.launches.push_back(launch);
  return true;
}

bool read_directive(const Words& words, KernelCase& kernel) {
  if (words.empty()) return false;
  const std::string& word = words[0];
  if (word == "buffer") return read_buffer(words, kernel);
  if (word == "bytes") return read_bytes(words, kernel);
  if (word == "texture") return read_texture(words, kernel);
  if (word == "sampler") return read_sampler(words, kernel);
  if (word == "grid") return read_launch(words, kernel);
  if (words.size() != 2) return false;
  if (word == "functions") {
    kernel.arguments.emplace_back(FunctionsArgument{split(words[1], ',')});
  } else if (word == "threadgroup") {
    kernel.arguments.emplace_back(ThreadgroupArgument{to_number(words[1]).value_or(0)});
  } else if (word == "tolerance") {
    kernel.tolerance = std::strtod(words[1].c_str(), nullptr);
  } else if (word == "seed") {
    kernel.seed = std::strtoull(words[1].c_str(), nullptr, 10);
  } else {
    return false;
  }
  return true;
}

Words words_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The name in "kernel void name(...", if the line begins so.
std::string_view kernel_of(std::string_view line) {
  constexpr std::string_view beginning = "kernel void ";
  if (!line.starts_with(beginning)) return {};
  line.remove_prefix(beginning.size());
  return line.substr(0, line.find('('));
}

std::string to_text(const device::Size& size) {
  return fmt::format("{}x{}x{}", size.x, size.y, size.z);
}

}  // namespace

Result<std::vector<KernelCase>> parse_cases(std::string_view source) {
  std::vector<KernelCase> cases;
  KernelCase next;
  size_t number = 0;
  for (const std::string& line : split(source, '\n')) {
    ++number;
    if (line.starts_with("//@")) {
      if (!read_directive(words_of(std::string_view(line).substr(3)), next))
        return Error{fmt::format("line {} says nothing that a kernel can be run with: {}", number, line)};
    } else if (const std::string_view kernel = kernel_of(line); !kernel.empty()) {
      next.source = source;
      next.kernel = kernel;
      if (next.launches.empty()) next.launches = default_launches(cases.size());
      cases.push_back(std::exchange(next, {}));
    }
  }
  if (cases.empty()) return Error{"there is no line that begins with 'kernel void'"};
  return cases;
}

std::vector<Launch> default_launches(uint64_t number) {
  constexpr Launch rows[] = {{{1000, 1, 1}, {256, 1, 1}}, {{77, 3, 1}, {64, 2, 1}}, {{131, 1, 1}, {33, 1, 1}}};
  constexpr Launch blocks[] = {{{37, 19, 1}, {16, 16, 1}}, {{40, 21, 1}, {32, 8, 1}}, {{9, 13, 6}, {8, 8, 4}}};
  constexpr Launch others[] = {{{35, 5, 3}, {17, 3, 2}}, {{5, 2, 2}, {1, 1, 1}}, {{23, 7, 1}, {12, 5, 1}}};
  return {rows[number % 3], blocks[(number + number / 3) % 3], others[(number + number / 9) % 3]};
}

std::string to_text(const Launch& launch) {
  return fmt::format("grid {} group {}", to_text(launch.grid), to_text(launch.threadgroup));
}

}  // namespace metalloid::differ
