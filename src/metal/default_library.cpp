// The default library is the file default.metallib that belongs to a program. It is looked for where
// METALLOID_DEFAULT_LIBRARY says, then beside the executable (in a Mac application: among its resources), then in the
// working folder.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "foundation/misuse.hpp"
#include "foundation/string.hpp"
#include "metal/errors.hpp"
#include "metal/library.hpp"

namespace metalloid::metal {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "default.metallib";

std::vector<fs::path> candidates() {
  if (const char* path = std::getenv("METALLOID_DEFAULT_LIBRARY"); path && *path) return {path};
  std::vector<fs::path> paths;
  if (const NS::String* resources = NS::Bundle::mainBundle()->resourcePath())
    paths.push_back(fs::path(foundation::text_of(resources)) / file_name);
  if (const NS::String* executable = NS::Bundle::mainBundle()->executablePath())
    if (fs::path beside = fs::path(foundation::text_of(executable)).parent_path() / file_name;
        paths.empty() || paths.back() != beside)
      paths.push_back(std::move(beside));
  paths.push_back(file_name);
  return paths;
}

// The first of them that exists; one that cannot be read is an error, not a reason to look further.
LibraryObject* first_library(DeviceObject* device, const std::vector<fs::path>& paths, NS::Error** error) {
  std::vector<std::string> looked_at;
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return new_library_from_file(device, path, error);
    looked_at.push_back(fmt::format("'{}'", path.string()));
  }
  report(error, library_error(MTL::LibraryErrorFileNotFound,
                              fmt::format("there is no default library; looked for {}. `metalloid compile` makes one",
                                          fmt::join(looked_at, ", "))));
  return nullptr;
}

}  // namespace
}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Library* Device::newDefaultLibrary() {
  DeviceObject* self = body(this);
  if (!self) return nullptr;
  NS::Error* error = nullptr;
  Library* library = first_library(self, candidates(), &error);
  if (!library && error->code() != LibraryErrorFileNotFound)  // there is nowhere else to say why
    metalloid::foundation::report_misuse("-[MTLDevice newDefaultLibrary]",
                                         metalloid::foundation::text_of(error->localizedDescription()));
  return library;
}

Library* Device::newDefaultLibrary(const NS::Bundle* bundle, NS::Error** error) {
  DeviceObject* self = body(this);
  if (!self) return nullptr;
  const NS::String* folder = bundle->resourcePath();
  if (!folder) {
    report(error, library_error(LibraryErrorFileNotFound, "the bundle is nil"));
    return nullptr;
  }
  return first_library(self, {fs::path(metalloid::foundation::text_of(folder)) / file_name}, error);
}

}  // namespace MTL
