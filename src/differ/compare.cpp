#include "differ/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace metalloid::differ {

namespace {

std::optional<Element> element_of(const Argument& argument) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument)) return buffer->element;
  if (const auto* texture = std::get_if<TextureArgument>(&argument)) return texture->element;
  return {};
}

bool is_close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

bool are_same(Element element, const uint8_t* a, const uint8_t* b, double tolerance) {
  return std::memcmp(a, b, info(element).bytes) == 0 ||
         (info(element).is_float && is_close(number_at(element, a), number_at(element, b), tolerance));
}

double tolerance_of(const KernelCase& kernel, Element element) {
  return kernel.tolerance < 0 ? info(element).tolerance : kernel.tolerance;
}

std::string shown(Element element, const uint8_t* bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, info(element).bytes);
  return info(element).is_float ? fmt::format("{} ({:#x})", number_at(element, bytes), bits)
                                : fmt::format("{:#x}", bits);
}

std::optional<std::string> difference_in(size_t number, Element element, double tolerance,
                                         const std::vector<uint8_t>& expected, const std::vector<uint8_t>& found) {
  const size_t size = info(element).bytes;
  size_t first = 0, count = 0;
  for (size_t i = 0; i < expected.size(); i += size) {
    if (are_same(element, &expected[i], &found[i], tolerance)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  return fmt::format("argument {} differs in {} of {} elements; first, [{}] is {} and not {}", number, count,
                     expected.size() / size, first / size, shown(element, &found[first]),
                     shown(element, &expected[first]));
}

// Words that are close as one float or as two halves: of what a kernel stores through a pointer to bytes.
bool are_close_words(const uint8_t* a, const uint8_t* b, double tolerance) {
  const auto are_close = [&](Element element) {
    for (size_t i = 0; i < 4; i += info(element).bytes)
      if (!are_same(element, a + i, b + i, tolerance)) return false;
    return true;
  };
  return are_close(Element::f32) || are_close(Element::f16) || are_close(Element::bf16);
}

std::optional<std::string> difference_in(const KernelCase& kernel, size_t number, const StructuredArgument& argument,
                                         const std::vector<uint8_t>& expected, const std::vector<uint8_t>& found) {
  if (expected == found) return {};
  const bool is_of_bytes = argument.stride == 1;
  for (size_t at = 0; at < expected.size(); at += argument.stride)
    for (const auto& [element, offset] : argument.fields) {
      const size_t place = at + offset, word = place / 4 * 4;
      const uint8_t *a = &expected[place], *b = &found[place];
      const double tolerance = tolerance_of(kernel, element);
      if (are_same(element, a, b, tolerance)) continue;
      if (is_of_bytes && word + 4 <= expected.size() && are_close_words(&expected[word], &found[word], tolerance))
        continue;
      return fmt::format("argument {} differs: byte {} begins what is {} and not {}", number, place, shown(element, b),
                         shown(element, a));
    }
  return {};
}

std::optional<Difference> first_difference(const KernelCase& kernel, std::shared_ptr<const Library> library,
                                           const Engine& engine, const std::vector<Remains>& references) {
  const auto subject = Subject::make(engine, library, kernel);
  if (!subject) {
    if (engine.width != 0 && needs_wider_groups(*library, kernel.kernel, engine.width)) return {};
    return Difference{engine, "", "has no pipeline: " + subject.error()};
  }
  for (size_t i = 0; i < kernel.launches.size(); ++i)
    for (const Guard guard : {Guard::end, Guard::beginning})
      if (auto what = difference_between(kernel, references[i], subject->run(kernel, kernel.launches[i], guard)))
        return Difference{engine, to_text(kernel.launches[i]), *what};
  return {};
}

Result<std::vector<Difference>> differences(const KernelCase& kernel, std::shared_ptr<const Library> original,
                                            std::shared_ptr<const Library> library,
                                            const std::vector<Engine>& engines) {
  const auto reference = Subject::make({"reference", 0}, original, kernel);
  if (!reference) return Error{reference.error()};
  std::vector<Remains> references;
  for (const Launch& launch : kernel.launches) {
    references.push_back(reference->run(kernel, launch, Guard::end));
    if (!references.back().fault.empty())
      return Error{fmt::format("{} on {}: {}", kernel.kernel, to_text(launch), references.back().fault)};
  }
  std::vector<Difference> found;
  for (const Engine& engine : engines)
    if (auto difference = first_difference(kernel, library, engine, references)) found.push_back(*difference);
  return found;
}

}  // namespace

std::string to_text(const Difference& difference) {
  return fmt::format("{}{}: {}", to_text(difference.engine), difference.launch.empty() ? "" : ", " + difference.launch,
                     difference.what);
}

std::optional<std::string> difference_between(const KernelCase& kernel, const Remains& reference,
                                              const Remains& remains) {
  if (!remains.fault.empty()) return "fails: " + remains.fault;
  if (remains.stores_missed) return "writes beside a buffer";
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    if (const auto* structured = std::get_if<StructuredArgument>(&kernel.arguments[i]))
      if (auto what = difference_in(kernel, i, *structured, reference.memory[i], remains.memory[i])) return what;
    const auto element = element_of(kernel.arguments[i]);
    if (!element) continue;
    if (auto what = difference_in(i, *element, tolerance_of(kernel, *element), reference.memory[i], remains.memory[i]))
      return what;
  }
  if (reference.logs != remains.logs)
    return fmt::format("logs {} messages, or others than the {} it should", remains.logs.size(), reference.logs.size());
  return {};
}

std::vector<Engine> vector_engines() {
  return {{"vector", 0},  {"vector", 256}, {"vector", 128}, {"vector", 64},
          {"vector", 32}, {"vector", 16},  {"vector", 8},   {"vector", 1}};
}

Result<std::vector<Difference>> differences(const KernelCase& kernel, const std::vector<Engine>& engines,
                                            const Disguise& disguise) {
  auto library = compile_source(kernel.source);
  if (!library) return Error{library.error()};
  if (!disguise) return differences(kernel, *library, *library, engines);
  auto disguised = compile_source(disguise(kernel.source));
  if (!disguised) return Error{disguised.error()};
  return differences(kernel, *library, *disguised, engines);
}

Result<std::vector<Difference>> differences(const KernelCase& kernel, std::shared_ptr<const Library> library,
                                            const std::vector<Engine>& engines) {
  return differences(kernel, library, library, engines);
}

}  // namespace metalloid::differ
