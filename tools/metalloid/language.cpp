#include "language.hpp"

#include <fmt/core.h>

#include <charconv>
#include <string>

#include "program.hpp"

namespace metalloid::tool {

namespace {

// Each version with the first system that runs it: macOS as major * 100 + minor, iOS and tvOS, visionOS as major.
struct Version {
  LanguageVersion language;
  int macos, ios, visionos;
};
constexpr Version versions[] = {
    {{1, 0}, 0, 8, 0},     {{1, 1}, 1011, 9, 0},  {{1, 2}, 1012, 10, 0}, {{2, 0}, 1013, 11, 0},
    {{2, 1}, 1014, 12, 0}, {{2, 2}, 1015, 13, 0}, {{2, 3}, 1100, 14, 0}, {{2, 4}, 1200, 15, 0},
    {{3, 0}, 1300, 16, 0}, {{3, 1}, 1400, 17, 1}, {{3, 2}, 1500, 18, 2},
};

std::string standard_name(std::string_view prefix, LanguageVersion language) {
  return fmt::format("{}metal{}.{}", prefix, language.major, language.minor);
}

int leading_number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

LanguageVersion language_of_standard(std::string_view name) {
  std::string known;
  for (const Version& version : versions) {
    // Until version 3 each system's language had a name of its own.
    bool per_system = version.language < LanguageVersion{3, 0};
    for (std::string_view prefix : {"macos-", "osx-", "ios-", ""}) {
      bool spelled = per_system ? !prefix.empty() && (prefix == "ios-" || version.macos) : prefix.empty();
      if (!spelled) continue;
      std::string spelling = standard_name(prefix, version.language);
      if (name == spelling) return version.language;
      if (prefix != "osx-") known += " " + spelling;
    }
  }
  throw Failure{exit_usage_error, fmt::format("unknown language version '{}'; known are{}", name, known)};
}

LanguageVersion language_of_system(std::string_view system, std::string_view system_version) {
  if (system_version.empty() || system_version.front() < '0' || system_version.front() > '9')
    throw Failure{exit_usage_error,
                  fmt::format("'{}' is no version of a system; one is written as 14.0", system_version)};
  int major = leading_number(system_version);
  size_t dot = system_version.find('.');
  int minor = dot == system_version.npos ? 0 : leading_number(system_version.substr(dot + 1));
  LanguageVersion newest = versions[0].language;
  for (const Version& version : versions) {
    bool runs = system.starts_with("macos")                                  ? major * 100 + minor >= version.macos
                : system.starts_with("xros") || system.starts_with("vision") ? major >= version.visionos
                                                                             : major >= version.ios;
    if (runs) newest = version.language;
  }
  return newest;
}

LanguageVersion language_of_target(std::string_view triple) {
  size_t at = triple.find_first_of("-");
  if (at != triple.npos) at = triple.find('-', at + 1);
  std::string_view system = at == triple.npos ? triple : triple.substr(at + 1);
  size_t digit = system.find_first_of("0123456789");
  if (digit == system.npos) return LanguageVersion();
  return language_of_system(system.substr(0, digit), system.substr(digit));
}

}  // namespace metalloid::tool
