// A Clang instance ready to take a Metal source: invocation, files, diagnostics, target.
#pragma once

#include <metalloid/compiler.hpp>

#include "msl/clang_headers.hpp"
#include "msl/diagnostics.hpp"

namespace metalloid::msl {

// `precompiled` (may be null) is the standard library's precompiled header and must outlive the instance, as must the
// collector. `path` is the source's own file; empty for a string.
std::unique_ptr<clang::CompilerInstance> make_instance(const CompileOptions& options, const std::filesystem::path& path,
                                                       const std::string* precompiled, DiagnosticCollector& collector);

// The source as Clang's input: its text, under the name that diagnostics give. The instance keeps the text.
clang::FrontendInputFile make_input(clang::CompilerInstance& instance, const std::string& source,
                                    const CompileOptions& options, const std::filesystem::path& path);

}  // namespace metalloid::msl
