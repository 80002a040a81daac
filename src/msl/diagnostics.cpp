#include "msl/diagnostics.hpp"

#include <regex>

#include "msl/file_system.hpp"

namespace metalloid::msl {

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  if (level == clang::DiagnosticsEngine::Ignored || level == clang::DiagnosticsEngine::Remark) return;
  bool in_stdlib = false;
  Diagnostic diagnostic = translate(level, info, in_stdlib);
  if (diagnostic.severity != Severity::note) {
    misplaced_ = in_stdlib;
    collected_.push_back(std::move(diagnostic));
    return;
  }
  if (in_stdlib || collected_.empty()) return;
  if (misplaced_) {
    Diagnostic& error = collected_.back();
    error.file = diagnostic.file;
    error.line = diagnostic.line;
    error.column = diagnostic.column;
    error.source_line = diagnostic.source_line;
    misplaced_ = false;
    return;
  }
  collected_.push_back(std::move(diagnostic));
}

Diagnostic DiagnosticCollector::translate(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info,
                                          bool& stdlib) const {
  Diagnostic diagnostic;
  switch (level) {
    case clang::DiagnosticsEngine::Note: diagnostic.severity = Severity::note; break;
    case clang::DiagnosticsEngine::Warning: diagnostic.severity = Severity::warning; break;
    default: diagnostic.severity = Severity::error;
  }
  llvm::SmallString<256> text;
  info.FormatDiagnostic(text);
  diagnostic.message = in_metal_words(text.str().str());
  if (!info.hasSourceManager() || info.getLocation().isInvalid()) return diagnostic;

  const clang::SourceManager& sources = info.getSourceManager();
  const clang::SourceLocation location = sources.getFileLoc(info.getLocation());
  const clang::PresumedLoc place = sources.getPresumedLoc(location);
  if (place.isInvalid()) return diagnostic;
  stdlib = in_stdlib(sources, location);
  diagnostic.file = place.getFilename();
  diagnostic.line = place.getLine();
  diagnostic.column = place.getColumn();
  const llvm::StringRef buffer = sources.getBufferData(sources.getFileID(location));
  const unsigned offset = sources.getFileOffset(location);
  if (offset <= buffer.size()) {
    const size_t previous = buffer.rfind('\n', offset);
    const size_t begin = offset == 0 || previous == llvm::StringRef::npos ? 0 : buffer.rfind('\n', offset - 1) + 1;
    diagnostic.source_line = buffer.substr(begin).take_until([](char c) { return c == '\n' || c == '\r'; }).str();
  }
  return diagnostic;
}

std::vector<Diagnostic> DiagnosticCollector::take() { return std::exchange(collected_, {}); }

void report_error(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation at, const std::string& message) {
  diagnostics.Report(at, diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0")) << message;
}

std::string in_metal_words(std::string message) {
  static const std::pair<std::regex, const char*> words[] = {
      {std::regex(R"(const __global_device\b|__global_device const\b|__global_device\b)"), "constant"},
      {std::regex(R"(__global\b)"), "device"},
      {std::regex(R"(__local\b)"), "threadgroup"},
      {std::regex(R"(__private\b|__generic\b)"), "thread"},
      {std::regex(R"(_Float16\b)"), "half"},
      {std::regex(R"(__bf16\b)"), "bfloat"},
      {std::regex(R"(\bunsigned char\b)"), "uchar"},
      {std::regex(R"(\bunsigned short\b)"), "ushort"},
      {std::regex(R"(\bunsigned int\b)"), "uint"},
      {std::regex(R"(\bunsigned long\b)"), "ulong"},
      {std::regex(R"((metal::)?\bvec<(\w+), ([234])>)"), "$2$3"},
      {std::regex(R"((metal::)?\bpacked_vec<(\w+), ([234])>)"), "packed_$2$3"},
      {std::regex(R"((metal::)?\bmatrix<(\w+), ([234]), ([234])>)"), "$2$3x$4"},
      {std::regex(R"(^unknown attribute ('.*') ignored)"), "unknown attribute $1"},
      // What the words above made the same: 'half' (aka 'half').
      {std::regex(R"('((?:[^'])*)' \(aka '\1'\))"), "'$1'"},
  };
  for (const auto& [pattern, word] : words) message = std::regex_replace(message, pattern, word);
  return message;
}

}  // namespace metalloid::msl
