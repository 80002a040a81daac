#include "msl/file_system.hpp"

#include "msl/embedded_headers.hpp"

namespace metalloid::msl {

namespace {

namespace vfs = llvm::vfs;

// The real file system, as far as the given folders reach.
class FoldersFileSystem final : public vfs::ProxyFileSystem {
 public:
  explicit FoldersFileSystem(const std::vector<std::filesystem::path>& folders)
      : ProxyFileSystem(vfs::getRealFileSystem()) {
    for (const auto& folder : folders) {
      std::error_code error;
      auto canonical = std::filesystem::weakly_canonical(folder, error);
      if (!error) folders_.push_back(canonical);
    }
  }

  llvm::ErrorOr<vfs::Status> status(const llvm::Twine& path) override {
    if (!allowed(path)) return std::make_error_code(std::errc::no_such_file_or_directory);
    return ProxyFileSystem::status(path);
  }

  llvm::ErrorOr<std::unique_ptr<vfs::File>> openFileForRead(const llvm::Twine& path) override {
    if (!allowed(path)) return std::make_error_code(std::errc::no_such_file_or_directory);
    return ProxyFileSystem::openFileForRead(path);
  }

  vfs::directory_iterator dir_begin(const llvm::Twine& path, std::error_code& error) override {
    if (!allowed(path)) {
      error = std::make_error_code(std::errc::no_such_file_or_directory);
      return {};
    }
    return ProxyFileSystem::dir_begin(path, error);
  }

 private:
  bool allowed(const llvm::Twine& path) const {
    std::error_code error;
    const auto canonical = std::filesystem::weakly_canonical(path.str(), error);
    if (error) return false;
    return llvm::any_of(folders_, [&](const std::filesystem::path& folder) {
      return std::mismatch(folder.begin(), folder.end(), canonical.begin(), canonical.end()).first == folder.end();
    });
  }

  std::vector<std::filesystem::path> folders_;
};

}  // namespace

FileSystem all_files() {
  return vfs::getRealFileSystem();
}

FileSystem files_below(const std::vector<std::filesystem::path>& folders) {
  if (folders.empty()) return nullptr;
  return llvm::makeIntrusiveRefCnt<FoldersFileSystem>(folders);
}

FileSystem with_stdlib(FileSystem files, std::unique_ptr<llvm::MemoryBuffer> precompiled_header) {
  auto memory = llvm::makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  for (const EmbeddedHeader& header : embedded_headers()) {
    const std::string path = (stdlib_folder + "/" + header.name).str();
    memory->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer({header.text.data(), header.text.size()}, path));
  }
  if (precompiled_header) memory->addFile(precompiled_header_path, 0, std::move(precompiled_header));
  if (!files) return memory;
  auto overlay = llvm::makeIntrusiveRefCnt<vfs::OverlayFileSystem>(files);
  overlay->pushOverlay(memory);
  return overlay;
}

bool in_stdlib(const clang::SourceManager& sources, clang::SourceLocation location) {
  return sources.getFilename(sources.getExpansionLoc(location)).starts_with(stdlib_folder);
}

}  // namespace metalloid::msl
