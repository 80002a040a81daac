#include "msl/forbidden.hpp"

#include "msl/diagnostics.hpp"

namespace metalloid::msl {

namespace {

namespace tok = clang::tok;

const char* reason_against(llvm::ArrayRef<clang::Token> tokens, size_t i) {
  const bool after_equal = i > 0 && tokens[i - 1].is(tok::equal);
  const bool starts_statement =
      i > 0 && tokens[i - 1].isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::colon, tok::kw_else);
  switch (tokens[i].getKind()) {
    case tok::kw_double:
      return "'double' is not a Metal type: use float";
    case tok::kw_throw:
    case tok::kw_try:
    case tok::kw_catch:
      return "Metal has no exceptions";
    case tok::kw_virtual:
      return "Metal has no virtual functions";
    case tok::kw_dynamic_cast:
    case tok::kw_typeid:
      return "Metal has no run-time type information";
    case tok::kw_new:
      return "Metal has no 'new': memory comes from buffers";
    case tok::kw_delete:
      return after_equal ? nullptr : "Metal has no 'delete': memory comes from buffers";
    case tok::kw_thread_local:
      return "Metal has no 'thread_local': a variable in a function is each thread's own";
    // Elsewhere it is a declaration's symbol name, an error only if somebody calls that function.
    case tok::kw_asm:
      return starts_statement ? "inline assembly is not part of Metal" : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

void report_forbidden(clang::DiagnosticsEngine& diagnostics, llvm::ArrayRef<clang::Token> tokens,
                      llvm::function_ref<bool(clang::SourceLocation)> is_stdlib) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const char* reason = reason_against(tokens, i);
    if (reason && !is_stdlib(tokens[i].getLocation())) report_error(diagnostics, tokens[i].getLocation(), reason);
  }
}

}  // namespace metalloid::msl
