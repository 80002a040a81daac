// Results of compilation kept on disk between processes. Every entry is one file named by its key's hash, written to a
// temporary name and renamed, with a checksum: a crash, a full disk or several writers at once never leave an entry
// that is read as something else. The cache is bounded: the entries used longest ago go first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace metalloid::cache {

// A key is the hash of everything its result depends on; the program that makes the result, by a fingerprint of its
// sources, is always part of it.
class CacheKey {
 public:
  explicit CacheKey(std::string_view maker);
  CacheKey& add(std::string_view part);
  std::string hex() const;

 private:
  std::string text_;
};

class DiskCache {
 public:
  // METALLOID_CACHE_DIR, else $XDG_CACHE_HOME/metalloid, else ~/.cache/metalloid; METALLOID_CACHE_SIZE in MiB.
  // With METALLOID_CACHE_DIR set to nothing, or nowhere to write, nothing is kept.
  static DiskCache& shared();

  DiskCache(std::filesystem::path folder, uint64_t max_bytes);

  std::optional<std::string> load(const CacheKey& key);
  void store(const CacheKey& key, std::string_view value);

 private:
  std::filesystem::path path_of(const CacheKey& key) const;
  void evict();

  std::filesystem::path folder_;
  uint64_t max_bytes_;
  uint64_t stored_since_eviction_ = 0;
};

}  // namespace metalloid::cache
