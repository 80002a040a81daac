#include "library/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace metalloid {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const { return number_ >= 0; }
  int operator*() const { return number_; }
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

Error system_error(std::string_view what, const std::filesystem::path& path, int reason = errno) {
  return Error{fmt::format("cannot {} '{}': {}", what, path.string(), std::generic_category().message(reason))};
}

bool write_all(int descriptor, std::span<const Bytes> pieces) {
  constexpr size_t most_at_once = size_t{1} << 30;
  for (Bytes rest : pieces)
    while (!rest.empty()) {
      const ssize_t written = ::write(descriptor, rest.data(), std::min(rest.size(), most_at_once));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      rest = rest.subspan(static_cast<size_t>(written));
    }
  return true;
}

Status write_directly(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  Descriptor file(path, O_WRONLY);
  if (!file || !write_all(*file, pieces) || !file.close()) return system_error("write", path);
  return success();
}

// A new name is on the disk when its folder is. File systems that cannot synchronise a folder need no help.
void synchronise_folder_of(const std::filesystem::path& path) {
  const Descriptor folder(path.has_parent_path() ? path.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  if (folder) ::fsync(*folder);
}

}  // namespace

Result<SharedBytes> map_file(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY);
  struct stat status{};
  if (!file || ::fstat(*file, &status) != 0) return system_error("open", path);
  if (S_ISDIR(status.st_mode)) return system_error("open", path, EISDIR);
  if (!S_ISREG(status.st_mode)) return Error{fmt::format("cannot open '{}': it is not a regular file", path.string())};
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return SharedBytes{};

  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, *file, 0);
  if (address == MAP_FAILED) return system_error("map", path);
  std::shared_ptr<const void> owner(address, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return SharedBytes{{static_cast<const uint8_t*>(address), size}, std::move(owner)};
}

Status replace_file(const std::filesystem::path& path, std::span<const Bytes> pieces, Durability durability) {
  std::error_code ignored;
  std::filesystem::path target = path;
  if (auto resolved = std::filesystem::canonical(path, ignored); !resolved.empty()) target = std::move(resolved);
  const auto kind = std::filesystem::status(target, ignored).type();
  if (kind == std::filesystem::file_type::directory) return system_error("write", path, EISDIR);
  if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found)
    return write_directly(path, pieces);

  static std::atomic<unsigned> counter = 0;
  std::filesystem::path temporary = target;
  temporary += fmt::format(".{}.{}.tmp", ::getpid(), counter++);
  Descriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return system_error("write", path);
  const bool durable = durability == Durability::on_disk;
  if (!write_all(*file, pieces) || (durable && ::fsync(*file) != 0) || !file.close() ||
      ::rename(temporary.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    return system_error("write", path, reason);
  }
  if (durable) synchronise_folder_of(target);
  return success();
}

}  // namespace metalloid
