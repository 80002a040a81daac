#include "cache/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <vector>

namespace metalloid::cache {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t magic = 0x3148434143544d4d;  // "MMTCACH1"

struct EntryHeader {
  uint64_t magic;
  uint64_t size;
  uint64_t checksum;
};

std::mutex mutex;

fs::path default_folder() {
  if (const char* folder = std::getenv("METALLOID_CACHE_DIR")) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) return fs::path(folder) / "metalloid";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "metalloid";
  return {};
}

uint64_t default_size() {
  constexpr uint64_t mebibyte = 1 << 20;
  if (const char* size = std::getenv("METALLOID_CACHE_SIZE")) return std::strtoull(size, nullptr, 10) * mebibyte;
  return 1024 * mebibyte;
}

}  // namespace

CacheKey::CacheKey(std::string_view maker) {
  add(maker);
}

CacheKey& CacheKey::add(std::string_view part) {
  const uint64_t size = part.size();
  text_.append(reinterpret_cast<const char*>(&size), sizeof size);
  text_.append(part);
  return *this;
}

std::string CacheKey::hex() const {
  const XXH128_hash_t hash = XXH3_128bits(text_.data(), text_.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

DiskCache& DiskCache::shared() {
  static DiskCache cache(default_folder(), default_size());
  return cache;
}

DiskCache::DiskCache(fs::path folder, uint64_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {}

fs::path DiskCache::path_of(const CacheKey& key) const {
  const std::string name = key.hex();
  return folder_ / name.substr(0, 2) / name.substr(2);
}

std::optional<std::string> DiskCache::load(const CacheKey& key) {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = path_of(key);
  std::ifstream file(path, std::ios::binary);
  EntryHeader header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || header.magic != magic) return std::nullopt;
  std::error_code error;
  if (fs::file_size(path, error) != sizeof header + header.size || error) return std::nullopt;
  std::string value(header.size, '\0');
  if (!file.read(value.data(), static_cast<std::streamsize>(value.size()))) return std::nullopt;
  if (XXH3_64bits(value.data(), value.size()) != header.checksum) {
    fs::remove(path, error);
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return value;
}

void DiskCache::store(const CacheKey& key, std::string_view value) {
  if (folder_.empty() || value.size() > max_bytes_ / 4) return;
  const fs::path path = path_of(key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return;
  std::string temporary = path.string() + ".XXXXXX";
  const int file = mkstemp(temporary.data());
  if (file < 0) return;
  const EntryHeader header{magic, value.size(), XXH3_64bits(value.data(), value.size())};
  const bool written = ::write(file, &header, sizeof header) == static_cast<ssize_t>(sizeof header) &&
                       ::write(file, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  ::close(file);
  if (written) fs::rename(temporary, path, error);
  if (!written || error) fs::remove(temporary, error);

  std::lock_guard lock(mutex);
  stored_since_eviction_ += value.size();
  if (stored_since_eviction_ > max_bytes_ / 8) evict();
}

void DiskCache::evict() {
  stored_since_eviction_ = 0;
  struct Entry {
    fs::file_time_type used;
    uint64_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code entry_error;
    if (!it->is_regular_file(entry_error)) continue;
    const uint64_t size = it->file_size(entry_error);
    const auto used = it->last_write_time(entry_error);
    if (entry_error) continue;
    entries.push_back({used, size, it->path()});
    total += size;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes_) break;
    if (fs::remove(entry.path, error)) total -= entry.size;
  }
}

}  // namespace metalloid::cache
