// What the compiler made of a source, kept on disk in two kinds of entries: one for the library without code (its
// reflection, its warnings, the files it included), one for the code of each function that was asked for.
#pragma once

#include <metalloid/compiler.hpp>
#include <optional>

#include "cache/disk_cache.hpp"
#include "msl/embedded_headers.hpp"

namespace metalloid::msl {

class LibraryCache {
 public:
  LibraryCache(std::string_view source, const std::filesystem::path& path, const CompileOptions& options);

  struct Entry {
    std::shared_ptr<Library> index;  // functions without code
    std::vector<Diagnostic> diagnostics;
    std::vector<std::filesystem::path> included_files;
  };

  // Nothing if there is no entry, or one of the files it included has changed since.
  std::optional<Entry> load();
  void store(const std::vector<Function>& functions, const std::vector<FunctionConstant>& constants,
             const std::vector<Diagnostic>& diagnostics, const std::vector<std::filesystem::path>& included);

  // After load() or store(), which say what the code depends on besides the source.
  std::shared_ptr<const Code> load_code(const Function& function) const;
  void store_code(const Function& function, const std::shared_ptr<const Code>& code) const;

 private:
  cache::CacheKey index_key() const { return cache::CacheKey(key_).add("index"); }
  cache::CacheKey code_key(const Function& function) const {
    return cache::CacheKey(key_).add("code").add(function.name).add(included_);
  }

  bool enabled_;
  cache::CacheKey key_{compiler_fingerprint()};
  std::string included_;  // the hashes of the included files
};

}  // namespace metalloid::msl
