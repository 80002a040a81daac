// How comparisons and searches answer, and the words of Objective-C that come with metal-cpp on a Mac.
#pragma once

#include <cstddef>

#include "NSDefines.hpp"
#include "NSTypes.hpp"

namespace NS {

_NS_ENUM(Integer, ComparisonResult){
    OrderedAscending = -1L,
    OrderedSame,
    OrderedDescending,
};

const Integer NotFound = IntegerMax;

}  // namespace NS

// Constants here, not macros: a program that has a variable of such a name keeps it.
#ifndef nil
inline constexpr std::nullptr_t nil = nullptr;
#endif
#ifndef YES
inline constexpr bool YES = true;
inline constexpr bool NO = false;
#endif
