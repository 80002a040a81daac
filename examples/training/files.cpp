#include "files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "failure.hpp"

namespace metalloid::training {

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw Failure(exit_file_error, fmt::format("cannot make the folder '{}': {}", folder.string(),
                                               error ? error.message() : "there is a file of that name"));
}

void write_file(const std::filesystem::path& file, std::string_view bytes) {
  const std::filesystem::path beside = file.string() + ".part";
  const auto fail = [&](int error) {
    std::remove(beside.c_str());
    throw Failure(exit_file_error, fmt::format("cannot write '{}': {}", file.string(), std::strerror(error)));
  };
  std::FILE* stream = std::fopen(beside.c_str(), "wb");
  if (!stream) fail(errno);
  const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size();
  const int write_error = errno;
  if (std::fclose(stream) != 0) fail(errno);
  if (!is_written) fail(write_error);
  if (std::rename(beside.c_str(), file.c_str()) != 0) fail(errno);
}

std::filesystem::path data_folder(const std::string& name) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto beside = program / "data";
  return std::filesystem::is_directory(beside) ? beside : program.parent_path() / "share/metalloid" / name;
}

}  // namespace metalloid::training
