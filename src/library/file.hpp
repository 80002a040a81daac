// Files as whole pieces: mapped for reading, replaced at once in writing.
#pragma once

#include <filesystem>
#include <memory>
#include <metalloid/result.hpp>

#include "library/bytes.hpp"

namespace metalloid {

// Bytes and whatever keeps them there.
struct SharedBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;
};

// Whoever shortens a mapped file in place makes its readers fault; replace_file() never does.
Result<SharedBytes> map_file(const std::filesystem::path& path);

// What is on the disk is there after a power failure too; it takes a disk's time to get there.
enum class Durability { cached, on_disk };

// Written beside `path` under another name and renamed, so that no reader ever sees half a file, and one that has the
// old file mapped keeps it. A path that is no regular file (a pipe, /dev/stdout) is written to directly.
Status replace_file(const std::filesystem::path& path, std::span<const Bytes> pieces, Durability durability);
inline Status replace_file(const std::filesystem::path& path, Bytes content) {
  return replace_file(path, {&content, 1}, Durability::cached);
}

}  // namespace metalloid
