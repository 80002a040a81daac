// The object behind MTL::Library.
#pragma once

#include <Metal/MTLLibrary.hpp>
#include <filesystem>
#include <memory>
#include <metalloid/library.hpp>

#include "metal/compile_options.hpp"
#include "metal/device.hpp"

namespace metalloid::metal {

// What the options of compilation say about every kernel of a library.
struct ThreadgroupLimits {
  NS::UInteger max_total_threads = 0;               // 0: no limit of its own
  MTL::Size required_threads = MTL::Size(0, 0, 0);  // 0: any size

  static ThreadgroupLimits from(const CompileProperties& options) {
    return {options.maxTotalThreadsPerThreadgroup, options.requiredThreadsPerThreadgroup};
  }
};

class LibraryObject final : public MTL::Library {
 public:
  LibraryObject(DeviceObject* device, std::shared_ptr<const metalloid::Library> library)
      : device(device), library(std::move(library)) {}

  DeviceObject* const device;
  const std::shared_ptr<const metalloid::Library> library;
  ThreadgroupLimits limits;
  NS::SharedPtr<NS::String> label;

  const char* className() const override { return "MTLLibrary"; }
};

inline LibraryObject* body(MTL::Library* library) {
  return static_cast<LibraryObject*>(library);
}
inline const LibraryObject* body(const MTL::Library* library) {
  return static_cast<const LibraryObject*>(library);
}

// A library from a file, or null and an error.
LibraryObject* new_library_from_file(DeviceObject* device, const std::filesystem::path& path, NS::Error** error);

}  // namespace metalloid::metal
