// A run of elements: where it begins and how many there are.
#pragma once

#include "NSDefines.hpp"
#include "NSTypes.hpp"

namespace NS {

struct Range {
  static Range Make(UInteger loc, UInteger len) { return Range(loc, len); }

  Range(UInteger loc, UInteger len) : location(loc), length(len) {}

  bool Equal(const Range& range) const { return location == range.location && length == range.length; }
  bool LocationInRange(UInteger loc) const { return loc >= location && loc - location < length; }
  UInteger Max() const { return location + length; }

  UInteger location;
  UInteger length;
};

}  // namespace NS
