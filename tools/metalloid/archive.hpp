// The .metalar file: an ordinary Unix archive whose members are .air files, so that `metal-ar r` can replace one of
// them and `ar t` lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace metalloid::tool {

struct ArchiveMember {
  std::string name;
  std::string bytes;
};

bool is_archive(std::string_view bytes);
bool is_archive_file(const std::string& path);

// Throws a Failure that names `path` if the archive is damaged.
std::vector<ArchiveMember> read_archive(std::string_view bytes, const std::string& path);
std::string write_archive(const std::vector<ArchiveMember>& members);

}  // namespace metalloid::tool
