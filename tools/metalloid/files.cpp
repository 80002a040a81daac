#include "files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <metalloid/compiler.hpp>

#include "archive.hpp"
#include "library/file.hpp"
#include "program.hpp"
#include "terminal.hpp"

namespace metalloid::tool {

namespace {

[[noreturn]] void fail(std::string_view verb, const std::string& path, int error) {
  throw Failure{exit_file_error, fmt::format("cannot {} '{}': {}", verb, path, std::strerror(error))};
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor, bool owned = true) : descriptor_(descriptor), owned_(owned) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  }
  operator int() const { return descriptor_; }

 private:
  int descriptor_;
  bool owned_;
};

Descriptor open_for_reading(const std::string& path) {
  if (path == standard_stream) return Descriptor(STDIN_FILENO, false);
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("read", path, errno);
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    fail("read", path, EISDIR);
  }
  return Descriptor(descriptor);
}

void write_standard_output(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", "standard output", errno);
    bytes.remove_prefix(count);
  }
}

std::shared_ptr<Library> library_from(std::string_view bytes, const std::string& name) {
  auto library = Library::from_bytes({bytes.begin(), bytes.end()});
  if (!library) throw Failure{exit_file_error, fmt::format("'{}': {}", name, library.error())};
  return *library;
}

// Code of another library, with a line of progress.
class WatchedCode : public CodeProvider {
 public:
  WatchedCode(const Library& library, ProgressLine& progress) : library_(library), progress_(progress) {}

  Result<std::shared_ptr<const Code>> code(size_t function) override {
    auto code = library_.code(library_.functions()[function].name);
    progress_.advance();
    return code;
  }

 private:
  const Library& library_;
  ProgressLine& progress_;
};

}  // namespace

void require_readable(const std::string& path) {
  open_for_reading(path);
}

std::string read_input(const std::string& path) {
  Descriptor file = open_for_reading(path);
  std::string bytes;
  size_t size = 0;
  for (;;) {
    bytes.resize(std::max<size_t>(size * 2, 1 << 16));
    ssize_t count = ::read(file, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path, errno);
    if (count == 0) break;
    size += count;
  }
  bytes.resize(size);
  return bytes;
}

void write_output(const std::string& path, std::string_view bytes) {
  if (path == standard_stream) return write_standard_output(bytes);
  auto written = replace_file(path, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!written) throw Failure{exit_file_error, written.error()};
}

std::vector<std::shared_ptr<Library>> read_libraries(const std::string& path) {
  if (path != standard_stream && std::filesystem::is_regular_file(path) && !is_archive_file(path)) {
    auto library = Library::open(path);
    if (!library) throw Failure{exit_file_error, library.error()};
    return {*library};
  }
  std::string bytes = read_input(path);
  if (!is_archive(bytes)) return {library_from(bytes, path == standard_stream ? "standard input" : path)};
  std::vector<std::shared_ptr<Library>> libraries;
  for (const ArchiveMember& member : read_archive(bytes, path))
    libraries.push_back(library_from(member.bytes, fmt::format("{}({})", path, member.name)));
  return libraries;
}

std::shared_ptr<Library> link_libraries(const std::vector<std::shared_ptr<Library>>& libraries) {
  auto linked = link(libraries);
  if (!linked) throw Failure{exit_source_error, linked.error()};
  return *linked;
}

std::vector<uint8_t> compile_functions(const Library& library) {
  ProgressLine progress("compiling functions", library.functions().size());
  Library watched(library.functions(), library.function_constants(), std::make_shared<WatchedCode>(library, progress));
  watched.add_device_code(library.device_code());
  auto bytes = watched.serialise();
  progress.clear();
  if (!bytes) throw Failure{exit_source_error, bytes.error(), true};
  return std::move(*bytes);
}

void write_library(const Library& library, const std::string& path) {
  const std::vector<uint8_t> bytes = compile_functions(library);
  write_output(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace metalloid::tool
