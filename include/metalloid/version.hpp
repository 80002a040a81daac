// The version of this build; it is written once, in the top-level CMakeLists.txt.
#pragma once

#include <string_view>

namespace metalloid {

inline constexpr std::string_view version = "0.1.0";
inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

}  // namespace metalloid
