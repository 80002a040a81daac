// C++ that Metal does not have, found in the tokens, so that each gets one clear message before Clang tries it.
#pragma once

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

// Tokens for which `is_stdlib` holds are not looked at.
void report_forbidden(clang::DiagnosticsEngine& diagnostics, llvm::ArrayRef<clang::Token> tokens,
                      llvm::function_ref<bool(clang::SourceLocation)> is_stdlib);

}  // namespace metalloid::msl
