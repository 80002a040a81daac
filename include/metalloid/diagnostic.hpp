// What the compiler has to say about a piece of source, in Metal's words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace metalloid {

enum class Severity { note, warning, error };

struct Diagnostic {
  Severity severity = Severity::error;
  std::string message = {};
  std::string file = {};         // as the user named it; empty when there is no place to point at
  uint32_t line = 0;             // 1-based, 0 when unknown
  uint32_t column = 0;           // 1-based, 0 when unknown
  std::string source_line = {};  // the text of that line, for the caret display
};

bool has_errors(const std::vector<Diagnostic>& diagnostics);

// file:line:column: error: message, the source line and a caret, as compilers print it.
std::string format(const Diagnostic& diagnostic, bool colour = false);
std::string format(const std::vector<Diagnostic>& diagnostics, bool colour = false);

}  // namespace metalloid
