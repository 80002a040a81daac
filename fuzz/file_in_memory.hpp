// A file that is in memory only, with a path, for readers that open files by their paths.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

class FileInMemory {
 public:
  FileInMemory(const uint8_t* data, size_t size) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    is_whole_ = descriptor_ >= 0 && ::write(descriptor_, data, size) == static_cast<ssize_t>(size);
  }
  ~FileInMemory() { ::close(descriptor_); }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;

  explicit operator bool() const { return is_whole_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
  bool is_whole_;
};
