// Collects Clang's diagnostics and says them in Metal's words: its names for types and address spaces, the user's own
// places. A message from inside a standard header is moved to the user's line that led there.
#pragma once

#include "msl/clang_headers.hpp"

#include <metalloid/diagnostic.hpp>

#include <string>
#include <vector>

namespace metalloid::msl {

class DiagnosticCollector final : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

  void add(Diagnostic diagnostic) { collected_.push_back(std::move(diagnostic)); }

  // Those so far; the collector starts anew.
  std::vector<Diagnostic> take();

 private:
  Diagnostic translate(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info, bool& in_stdlib) const;

  std::vector<Diagnostic> collected_;
  bool misplaced_ = false;  // the last error or warning points into a standard header
};

// Says an error of our own at a place in the source.
void report_error(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation at, const std::string& message);

// "'__global float *' ..." as "'device float *' ...".
std::string in_metal_words(std::string message);

}  // namespace metalloid::msl
