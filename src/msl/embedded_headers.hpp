// The standard headers of Metal, carried inside the compiler: a shader needs no file to include <metal_stdlib>.
#pragma once

#include <span>
#include <string_view>

namespace metalloid::msl {

struct EmbeddedHeader {
  const char* name;
  std::string_view text;
};

std::span<const EmbeddedHeader> embedded_headers();

// A hash of the compiler's own sources and headers: what it made in an earlier state is not taken for its work now.
std::string_view compiler_fingerprint();

}  // namespace metalloid::msl
