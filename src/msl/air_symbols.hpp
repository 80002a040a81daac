// Functions that a source declares with the symbol of one of Apple's intermediate code, as __asm("air.name.types"). The
// standard headers define those that are known, as functions named __air_name_types. Sources for newer compilers of
// Apple's, which refuse the prefix, write a byte of 1 before it.
#pragma once

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

// What the headers define for a function that is declared with such a symbol, or null.
clang::FunctionDecl* find_air_function(const clang::FunctionDecl* declared);

// Makes calls of such symbols calls of what the headers define.
void link_air_functions(llvm::Module& module);

}  // namespace metalloid::msl
