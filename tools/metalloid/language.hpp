// The names of Metal's language versions, and which version a deployment target has.
#pragma once

#include <metalloid/compiler.hpp>
#include <string_view>

namespace metalloid::tool {

// The value of -std=; an unknown one is a Failure that lists the known ones.
LanguageVersion language_of_standard(std::string_view name);

// The newest language that a system version runs: "macos", "14.2" has Metal 3.1. What is no version is a Failure.
LanguageVersion language_of_system(std::string_view system, std::string_view system_version);

// The same for a target triple, such as air64-apple-macos14.0.
LanguageVersion language_of_target(std::string_view triple);

}  // namespace metalloid::tool
