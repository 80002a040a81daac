// Which files a source includes, as a rule for make or as a list with depths. The standard headers live in memory and
// are not among them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::tool {

struct IncludedFile {
  std::string path;
  size_t depth;  // 1: included by the source itself
};

// From the line markers of preprocessed text, in the order of inclusion, once for each time.
std::vector<IncludedFile> included_files(std::string_view preprocessed, const std::string& source);

struct Dependencies {
  std::string source;
  std::vector<std::filesystem::path> files;
};

// "target: source header header", for make.
std::string make_rule(const std::vector<std::string>& targets, const Dependencies& dependencies, bool phony_targets);

// The text without its markers, and without the empty lines they leave.
std::string without_line_markers(std::string_view preprocessed);

}  // namespace metalloid::tool
