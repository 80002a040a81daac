// A Clang instance ready to take a Metal source: invocation, files, diagnostics, target.
#pragma once

#include "clang_headers.hpp"

#include <metalloid/compiler.hpp>

#include "diagnostics.hpp"

namespace metalloid::msl {

// `precompiled` (may be null) is the standard library's precompiled header and must outlive the instance, as must the
// collector. `path` is the source's own file, whose folder may be included from; empty for a string.
std::unique_ptr<clang::CompilerInstance> make_instance(const CompileOptions& options, const std::filesystem::path& path,
                                                       const std::string* precompiled, DiagnosticCollector& collector);

// What the source is called in diagnostics.
std::string source_name(const CompileOptions& options, const std::filesystem::path& path);

}  // namespace metalloid::msl
