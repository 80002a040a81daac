// metal-ar: keeps .air files in an archive.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <metalloid/version.hpp>

#include "archive.hpp"
#include "files.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view help =
    "Keeps compiled Metal files in an archive, which metal and metallib link.\n\n"
    "Usage: metal-ar OPERATION ARCHIVE [FILE...]\n\n"
    "Operations:\n"
    "  r   add the files, replacing those of the same name\n"
    "  q   add the files at the end\n"
    "  d   delete the files\n"
    "  t   list the files\n"
    "  x   extract the files, or all\n"
    "Letters c, s, u, v and D may follow and change nothing.\n\n"
    "Example:\n"
    "  metal-ar rcs kernels.metalar softmax.air matmul.air\n\n";

std::vector<ArchiveMember> read_existing(const std::string& path) {
  std::string bytes = read_input(path);
  if (!is_archive(bytes)) throw Failure{exit_file_error, fmt::format("'{}' is not an archive", path)};
  return read_archive(bytes, path);
}

ArchiveMember read_member(const std::string& path) {
  read_libraries(path);  // fails if it is none
  return {fs::path(path).filename().string(), read_input(path)};
}

auto find_member(std::vector<ArchiveMember>& members, const std::string& file, const std::string& archive) {
  std::string name = fs::path(file).filename().string();
  auto found = std::find_if(members.begin(), members.end(), [&](const auto& member) { return member.name == name; });
  if (found == members.end()) throw Failure{exit_file_error, fmt::format("'{}' has no member '{}'", archive, name)};
  return found;
}

void add(const std::string& archive, const std::vector<std::string>& files, bool replace) {
  std::vector<ArchiveMember> members;
  if (fs::exists(archive)) members = read_existing(archive);
  for (const std::string& file : files) {
    ArchiveMember added = read_member(file);
    auto same = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.name == added.name; });
    if (replace && same != members.end())
      *same = std::move(added);
    else
      members.push_back(std::move(added));
  }
  write_output(archive, write_archive(members));
}

void remove(const std::string& archive, const std::vector<std::string>& files) {
  std::vector<ArchiveMember> members = read_existing(archive);
  for (const std::string& file : files) members.erase(find_member(members, file, archive));
  write_output(archive, write_archive(members));
}

void extract(const std::string& archive, const std::vector<std::string>& files) {
  std::vector<ArchiveMember> members = read_existing(archive);
  for (const std::string& file : files)
    write_output(fs::path(file).filename(), find_member(members, file, archive)->bytes);
  if (!files.empty()) return;
  // A member's name is a file's name, never a path out of the current folder.
  for (const ArchiveMember& member : members) write_output(fs::path(member.name).filename(), member.bytes);
}

}  // namespace

int run_metal_ar(const Arguments& arguments) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "-help")) {
    fmt::print("{}{}\n", help, exit_code_help);
    return exit_success;
  }
  if (!arguments.empty() && arguments[0] == "--version") {
    fmt::print("metal-ar (Metalloid {})\n", version);
    return exit_success;
  }
  if (arguments.size() < 2)
    throw Failure{exit_usage_error, "an operation and an archive are needed: metal-ar rcs kernels.metalar a.air"};

  std::string_view operation = arguments[0];
  if (operation.starts_with('-')) operation.remove_prefix(1);
  size_t verb = operation.find_first_of("rqdtx");
  if (verb == operation.npos || operation.find_first_not_of("rqdtxcsuvD") != operation.npos)
    throw Failure{exit_usage_error, fmt::format("unknown operation '{}'; known are r q d t x", arguments[0])};

  const std::string& archive = arguments[1];
  std::vector<std::string> files(arguments.begin() + 2, arguments.end());
  switch (operation[verb]) {
    case 'r':
      add(archive, files, true);
      break;
    case 'q':
      add(archive, files, false);
      break;
    case 'd':
      remove(archive, files);
      break;
    case 'x':
      extract(archive, files);
      break;
    case 't':
      for (const ArchiveMember& member : read_existing(archive)) fmt::print("{}\n", member.name);
      break;
  }
  return exit_success;
}

}  // namespace metalloid::tool
