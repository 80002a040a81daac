// Collects Clang's diagnostics and says them in Metal's words: its names for types and address spaces, the user's own
// places. A message from inside a standard header is moved to the user's line that led there. Notes on functions of the
// standard headers that could not be called are left out; where all give the same reason, the message itself gives it.
#pragma once

#include <metalloid/diagnostic.hpp>
#include <string>
#include <vector>

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

class DiagnosticCollector final : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

  void add(Diagnostic diagnostic) { handle_message(std::move(diagnostic), /*in_stdlib=*/false); }

  // Those so far; the collector starts anew.
  std::vector<Diagnostic> take();

 private:
  Diagnostic translate(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info, bool& in_stdlib) const;

  void handle_message(Diagnostic diagnostic, bool in_stdlib);
  void handle_note(Diagnostic note, bool in_stdlib);
  void finish_message();

  static constexpr size_t none = static_cast<size_t>(-1);

  std::vector<Diagnostic> collected_;
  size_t current_ = none;             // the error or warning that notes belong to; none if it is a repetition
  bool misplaced_ = false;            // it points into a standard header
  std::vector<std::string> reasons_;  // why functions of the standard headers could not be called
};

// Says an error of our own at a place in the source.
void report_error(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation at, const std::string& message);

// "'__global float *' ..." as "'device float *' ...".
std::string in_metal_words(std::string message);

}  // namespace metalloid::msl
