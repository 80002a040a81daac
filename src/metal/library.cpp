// Libraries, from Metal source or from what `metalloid compile` made of it. Compilation here means that the source is
// read and checked; the code of a function is made when a pipeline first needs it.
#include "metal/library.hpp"

#include <fmt/format.h>

#include <system_error>
#include <vector>

#include "foundation/array.hpp"
#include "foundation/string.hpp"
#include "metal/background.hpp"
#include "metal/errors.hpp"

namespace metalloid::metal {
namespace {

using foundation::text_of;

// Metal reports warnings as an error beside a library, and errors as one without.
LibraryObject* new_library_from_source(DeviceObject* device, const NS::String* source,
                                       const CompileProperties& properties, NS::Error** error) {
  if (!source) {
    report(error, library_error(MTL::LibraryErrorCompileFailure, "there is no source: it is nil"));
    return nullptr;
  }
  if (properties.libraryType == MTL::LibraryTypeDynamic) {
    report(error, library_error(MTL::LibraryErrorUnsupported,
                                "dynamic libraries are not supported (Device::supportsDynamicLibraries() is false); "
                                "compile the functions in one source, or link [[visible]] functions to a pipeline"));
    return nullptr;
  }
  const CompileResult result = compile(text_of(source), compiler_options(properties));
  if (!result.library) {
    report(error, library_error(MTL::LibraryErrorCompileFailure, format(result.diagnostics)));
    return nullptr;
  }
  report(error, result.diagnostics.empty()
                    ? nullptr
                    : library_error(MTL::LibraryErrorCompileWarning,
                                    "Compilation succeeded with: \n\n" + format(result.diagnostics)));
  auto* library = new LibraryObject(device, result.library);
  library->limits = ThreadgroupLimits::from(properties);
  return library;
}

LibraryObject* new_library(DeviceObject* device, Result<std::shared_ptr<metalloid::Library>> library,
                           NS::Error** error) {
  if (!library) {
    report(error, library_error(MTL::LibraryErrorUnsupported, library.error()));
    return nullptr;
  }
  report(error, nullptr);
  return new LibraryObject(device, *std::move(library));
}

CompileProperties properties_or_defaults(const MTL::CompileOptions* options) {
  const CompileProperties* given = properties(options);
  return given ? *given : CompileProperties();
}

std::vector<uint8_t> bytes_of(dispatch_data_t data) {
  const void* bytes = nullptr;
  size_t size = 0;
  dispatch_data_t map = dispatch_data_create_map(data, &bytes, &size);
  const auto* first = static_cast<const uint8_t*>(bytes);
  std::vector<uint8_t> copy(first, first + size);
  dispatch_release(map);
  return copy;
}

}  // namespace

LibraryObject* new_library_from_file(DeviceObject* device, const std::filesystem::path& path, NS::Error** error) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    report(error, library_error(MTL::LibraryErrorFileNotFound, fmt::format("there is no file '{}'", path.string())));
    return nullptr;
  }
  return new_library(device, metalloid::Library::open(path), error);
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::foundation;
using namespace metalloid::metal;

Library* Device::newLibrary(const NS::String* source, const CompileOptions* options, NS::Error** error) {
  DeviceObject* self = body(this);
  return self ? new_library_from_source(self, source, properties_or_defaults(options), error) : nullptr;
}

void Device::newLibrary(const NS::String* source, const CompileOptions* options,
                        const NewLibraryCompletionHandlerFunction& handler) {
  DeviceObject* self = body(this);
  if (!self || !handler) return;
  const auto text = NS::TransferPtr(source ? source->copy() : nullptr);
  in_background([self, text, properties = properties_or_defaults(options), handler] {
    NS::Error* error = nullptr;
    const auto library = NS::TransferPtr(new_library_from_source(self, text.get(), properties, &error));
    handler(library.get(), error);
  });
}

Library* Device::newLibrary(const NS::String* path, NS::Error** error) {
  DeviceObject* self = body(this);
  if (!self) return nullptr;
  if (!path) {
    report(error, library_error(LibraryErrorFileNotFound, "the path of the library is nil"));
    return nullptr;
  }
  return new_library_from_file(self, text_of(path), error);
}

Library* Device::newLibrary(const NS::URL* url, NS::Error** error) {
  DeviceObject* self = body(this);
  if (!self) return nullptr;
  const char* path = url->fileSystemRepresentation();
  if (!path) {
    report(error, library_error(LibraryErrorFileNotFound, "the URL of the library is nil or not that of a file"));
    return nullptr;
  }
  return new_library_from_file(self, path, error);
}

Library* Device::newLibrary(const dispatch_data_t data, NS::Error** error) {
  DeviceObject* self = body(this);
  if (!self) return nullptr;
  if (!data) {
    report(error, library_error(LibraryErrorUnsupported, "the library's data is nil"));
    return nullptr;
  }
  return new_library(self, metalloid::Library::from_bytes(bytes_of(data)), error);
}

Device* Library::device() const {
  const LibraryObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* Library::label() const {
  const LibraryObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void Library::setLabel(const NS::String* label) {
  if (LibraryObject* self = body(this)) self->label = NS::TransferPtr(label->copy());
}

NS::Array* Library::functionNames() const {
  const LibraryObject* self = body(this);
  if (!self) return nullptr;
  std::vector<NS::SharedPtr<NS::Object>> names;
  for (std::string_view name : self->library->function_names()) names.push_back(NS::TransferPtr(new_string(name)));
  return autoreleased_array(std::move(names));
}

NS::String* Library::installName() const {
  return nullptr;
}

LibraryType Library::type() const {
  return LibraryTypeExecutable;
}

}  // namespace MTL
