#include "archive.hpp"

#include <fmt/core.h>

#include <charconv>
#include <fstream>

#include "program.hpp"

namespace metalloid::tool {

namespace {

constexpr std::string_view magic = "!<arch>\n";
constexpr size_t header_size = 60;
constexpr size_t name_size = 16;               // at offset 0
constexpr size_t size_offset = 48;             // ten decimal digits
constexpr std::string_view long_names = "//";  // the member that holds names of more than 15 characters

[[noreturn]] void damaged(const std::string& path) {
  throw Failure{exit_file_error, fmt::format("'{}' is a damaged archive; make it again with metal-ar", path)};
}

std::string_view trim(std::string_view text) {
  size_t end = text.find_last_not_of(' ');
  return text.substr(0, end == text.npos ? 0 : end + 1);
}

size_t number(std::string_view text, const std::string& path) {
  size_t value = 0;
  text = trim(text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) damaged(path);
  return value;
}

void append_member(std::string& archive, std::string_view name, std::string_view bytes) {
  archive += fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, "644", bytes.size());
  archive += bytes;
  if (bytes.size() % 2) archive += '\n';
}

}  // namespace

bool is_archive(std::string_view bytes) {
  return bytes.starts_with(magic);
}

bool is_archive_file(const std::string& path) {
  std::string start(magic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), start.size()) && start == magic;
}

std::vector<ArchiveMember> read_archive(std::string_view bytes, const std::string& path) {
  std::vector<ArchiveMember> members;
  std::string_view names;
  size_t at = magic.size();
  while (at < bytes.size()) {
    if (bytes.size() - at < header_size) damaged(path);
    std::string_view header = bytes.substr(at, header_size);
    at += header_size;
    size_t size = number(header.substr(size_offset, 10), path);
    if (size > bytes.size() - at) damaged(path);
    std::string_view body = bytes.substr(at, size);
    at += size + size % 2;

    std::string_view name = trim(header.substr(0, name_size));
    if (name == long_names) {
      names = body;
      continue;
    }
    if (name == "/" || name == "/SYM64/") continue;  // a symbol table, which other archivers add
    if (name.starts_with('/')) {
      size_t offset = number(name.substr(1), path);
      if (offset >= names.size()) damaged(path);
      name = names.substr(offset, names.find('\n', offset) - offset);
    }
    if (name.ends_with('/')) name.remove_suffix(1);
    members.push_back({std::string(name), std::string(body)});
  }
  return members;
}

std::string write_archive(const std::vector<ArchiveMember>& members) {
  std::string names;
  std::vector<std::string> headers;
  for (const ArchiveMember& member : members) {
    if (member.name.size() < name_size) {
      headers.push_back(member.name + "/");
    } else {
      headers.push_back(fmt::format("/{}", names.size()));
      names += member.name + "/\n";
    }
  }
  std::string archive(magic);
  if (!names.empty()) append_member(archive, long_names, names);
  for (size_t i = 0; i < members.size(); ++i) append_member(archive, headers[i], members[i].bytes);
  return archive;
}

}  // namespace metalloid::tool
