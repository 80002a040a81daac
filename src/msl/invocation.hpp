// Compile options as a Clang invocation: the mode, macros and limits under which Clang takes Metal's dialect.
#pragma once

#include <metalloid/compiler.hpp>

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

std::shared_ptr<clang::CompilerInvocation> make_invocation(const CompileOptions& options);

// What of the options the precompiled standard library depends on: two sets of options with the same key share it.
std::string stdlib_key(const CompileOptions& options);

// -D and -U as preprocessor lines; they come after the standard library.
std::string user_macros(const CompileOptions& options);

}  // namespace metalloid::msl
