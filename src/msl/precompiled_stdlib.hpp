// The standard library, parsed once and kept as a Clang precompiled header: it is there before a shader's first
// include, and costs a fraction of parsing it anew.
#pragma once

#include <memory>
#include <metalloid/compiler.hpp>
#include <string>

namespace metalloid::msl {

// The precompiled header for these options: from this process, else from the disk cache, else built now. The error is
// the diagnostics of a standard header that does not compile.
Result<std::shared_ptr<const std::string>> precompiled_stdlib(const CompileOptions& options);

}  // namespace metalloid::msl
