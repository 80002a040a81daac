#include "msl/diagnostics.hpp"

#include <algorithm>
#include <regex>

#include "msl/file_system.hpp"

namespace metalloid::msl {

namespace {

// What explains C++ and its compiler, or sends the user to options that are not ours.
bool is_noise(const std::string& note) {
  for (const char* part : {"(the implicit ", "use -f", "pass -f"})
    if (note.find(part) != note.npos) return true;
  return false;
}

// "requires 2 arguments, but 1 was provided" of a note on a function that could not be called; else empty.
std::string reason_of(const std::string& note) {
  static const std::regex pattern(R"(^candidate (?:function|constructor)(?: template)?(?: \(.*\))? not viable: (.*)$)");
  std::smatch match;
  return std::regex_match(note, match, pattern) ? match[1].str() : "";
}

// Where functions of the standard library could not be called and all for the same reason, that reason.
std::string common_reason(const std::string& message, const std::vector<std::string>& reasons) {
  if (reasons.empty()) return "";
  const std::string& first = reasons.front();
  const auto is_same = [&](const std::string& reason) { return reason == first; };
  const auto is_count = [](const std::string& reason) { return reason.starts_with("requires "); };
  const bool is_call = message.starts_with("no matching function");
  const bool is_common = is_call && (std::all_of(reasons.begin(), reasons.end(), is_same) ||
                                     std::all_of(reasons.begin(), reasons.end(), is_count));
  return is_common || message.starts_with("no viable overloaded") ? ": " + first : "";
}

}  // namespace

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  if (level == clang::DiagnosticsEngine::Ignored || level == clang::DiagnosticsEngine::Remark) return;
  bool in_stdlib = false;
  Diagnostic diagnostic = translate(level, info, in_stdlib);
  if (diagnostic.severity == Severity::note)
    handle_note(std::move(diagnostic), in_stdlib);
  else
    handle_message(std::move(diagnostic), in_stdlib);
}

void DiagnosticCollector::handle_message(Diagnostic diagnostic, bool in_stdlib) {
  static const std::regex assertion(R"(^static assertion failed(?: due to requirement '.*')?: )");
  finish_message();
  const auto same = [&](const Diagnostic& other) {
    return other.severity == diagnostic.severity && other.message == diagnostic.message &&
           other.file == diagnostic.file && other.line == diagnostic.line && other.column == diagnostic.column;
  };
  const bool repeated = !in_stdlib && std::any_of(collected_.begin(), collected_.end(), same);
  current_ = repeated ? none : collected_.size();
  if (repeated) return;
  misplaced_ = in_stdlib;
  if (in_stdlib) diagnostic.message = std::regex_replace(diagnostic.message, assertion, "");
  collected_.push_back(std::move(diagnostic));
}

void DiagnosticCollector::handle_note(Diagnostic note, bool in_stdlib) {
  if (current_ == none) return;
  if (in_stdlib) {
    if (std::string reason = reason_of(note.message); !reason.empty()) reasons_.push_back(std::move(reason));
  } else if (misplaced_) {
    Diagnostic& message = collected_[current_];
    message.file = note.file;
    message.line = note.line;
    message.column = note.column;
    message.source_line = note.source_line;
    misplaced_ = false;
  } else if (!is_noise(note.message)) {
    collected_.push_back(std::move(note));
  }
}

void DiagnosticCollector::finish_message() {
  if (current_ != none) {
    std::string& message = collected_[current_].message;
    message += common_reason(message, reasons_);
    // Clang says once how it came into a standard header; what follows there is a consequence of the first error.
    if (misplaced_ && current_ > 0) collected_.resize(current_);
  }
  reasons_.clear();
  current_ = none;
}

Diagnostic DiagnosticCollector::translate(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info,
                                          bool& stdlib) const {
  Diagnostic diagnostic;
  switch (level) {
    case clang::DiagnosticsEngine::Note:
      diagnostic.severity = Severity::note;
      break;
    case clang::DiagnosticsEngine::Warning:
      diagnostic.severity = Severity::warning;
      break;
    default:
      diagnostic.severity = Severity::error;
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
    const size_t begin = buffer.rfind('\n', offset) + 1;  // none before it: 0
    diagnostic.source_line = buffer.substr(begin).take_until([](char c) { return c == '\n' || c == '\r'; }).str();
  }
  return diagnostic;
}

std::vector<Diagnostic> DiagnosticCollector::take() {
  finish_message();
  return std::exchange(collected_, {});
}

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
      {std::regex(R"((metal::)?\b__vec<(\w+)\[(\w+)\]>)"), "vec<$2, $3>"},
      {std::regex(R"((metal::)?\b__packed_vec<(\w+)\[(\w+)\], (metal::)?vec<\w+, \w+>>)"), "packed_vec<$2, $3>"},
      {std::regex(R"((metal::)?\bvec<(\w+), ([234])>)"), "$2$3"},
      {std::regex(R"((metal::)?\bpacked_vec<(\w+), ([234])>)"), "packed_$2$3"},
      {std::regex(R"((metal::)?\bmatrix<(\w+), ([234]), ([234])>)"), "$2$3x$4"},
      {std::regex(R"(^no matching function for call to '__metal_cast')"),
       "static_cast needs a type, and a value that it is made of"},
      {std::regex(R"(\b__metal_(\w+))"), "$1"},
      {std::regex(R"(^variable length array declaration cannot have 'static' storage duration$)"),
       "the size of an array in threadgroup memory must be a constant"},
      {std::regex(R"(^explicit instantiation of ('.*') does not refer to a function template, .*$)"),
       "no template $1 that fits this instantiation has been declared"},
      {std::regex(R"(^read-only variable is not assignable$)"), "cannot assign to memory that is constant or const"},
      {std::regex(R"(^('(?:metal_tensor|metal_cooperative_tensor|MetalPerformancePrimitives/.*)') file not found$)"),
       "$1 is of Metal 4, whose tensors no device here has; use the kernels for GPUs without them"},
      {std::regex(R"(^ from vector )"), "no conversion from vector "},  // T(v) has no name that Clang would begin with
      // Swizzles are properties, which have setters.
      {std::regex(R"(^'this' argument to member function '__put_\w+' is an rvalue, .*)"),
       "cannot assign to a part of a temporary vector"},
      {std::regex(R"(^'this' argument to member function '__put_\w+' has type .*)"),
       "cannot assign to memory that is constant or const"},
      {std::regex(R"(^no member named '__put_(\w+)' in .*|^cannot find suitable setter for property '(\w+)')"),
       "cannot assign to '$1$2', which names a component twice"},
      // What the words above made the same: 'half' (aka 'half').
      {std::regex(R"('((?:[^'])*)' \(aka '\1'\))"), "'$1'"},
      {std::regex(R"(^call to constructor of ('(?:packed_)?[a-z]+[234]') is ambiguous)"),
       "no matching constructor for initialization of $1"},
  };
  for (const auto& [pattern, word] : words) message = std::regex_replace(message, pattern, word);
  return message;
}

}  // namespace metalloid::msl
