#include "dependencies.hpp"

#include <algorithm>
#include <set>

namespace metalloid::tool {

namespace {

std::string_view take_line(std::string_view& text) {
  size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

// # 12 "path" 1
bool is_marker(std::string_view line) {
  return line.size() > 2 && line.starts_with("# ") && line[2] >= '0' && line[2] <= '9';
}

struct Marker {
  std::string path;
  bool enters = false, returns = false;
};

Marker parse_marker(std::string_view line) {
  Marker marker;
  size_t at = line.find('"');
  if (at == line.npos) return marker;
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    marker.path += line[at];
  }
  std::string_view flags = line.substr(std::min(at + 1, line.size()));
  marker.enters = flags.starts_with(" 1");
  marker.returns = flags.starts_with(" 2");
  return marker;
}

std::string escape_for_make(std::string_view path) {
  std::string escaped;
  for (char c : path) {
    if (c == ' ' || c == '#') escaped += '\\';
    if (c == '$') escaped += '$';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::vector<IncludedFile> included_files(std::string_view preprocessed, const std::string& source) {
  std::vector<IncludedFile> files;
  size_t depth = 0;
  while (!preprocessed.empty()) {
    std::string_view line = take_line(preprocessed);
    if (!is_marker(line)) continue;
    Marker marker = parse_marker(line);
    if (marker.returns && depth > 0) --depth;
    if (!marker.enters) continue;
    ++depth;
    std::error_code error;
    if (marker.path != source && std::filesystem::is_regular_file(marker.path, error))
      files.push_back({marker.path, depth});
  }
  return files;
}

std::string make_rule(const std::vector<std::string>& targets, const Dependencies& dependencies, bool phony_targets) {
  std::string rule;
  for (const std::string& target : targets) rule += escape_for_make(target) + (&target == &targets.back() ? ":" : " ");
  rule += " " + escape_for_make(dependencies.source);
  std::set<std::string> seen = {dependencies.source};
  std::string phony;
  for (const std::filesystem::path& file : dependencies.files) {
    if (!seen.insert(file.string()).second) continue;
    rule += " \\\n  " + escape_for_make(file.string());
    phony += escape_for_make(file.string()) + ":\n";
  }
  rule += "\n";
  return phony_targets ? rule + phony : rule;
}

std::string without_line_markers(std::string_view preprocessed) {
  std::string text;
  while (!preprocessed.empty()) {
    std::string_view line = take_line(preprocessed);
    if (is_marker(line) || line.find_first_not_of(" \t\r") == line.npos) continue;
    text.append(line).append("\n");
  }
  return text;
}

}  // namespace metalloid::tool
