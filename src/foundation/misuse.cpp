#include "foundation/misuse.hpp"

#include <cstdio>

namespace metalloid::foundation {

void report_misuse(std::string_view call, std::string_view what) {
  std::fprintf(stderr, "*** %.*s: %.*s\n", static_cast<int>(call.size()), call.data(), static_cast<int>(what.size()),
               what.data());
}

}  // namespace metalloid::foundation
