// Errors in Metal's domains, with its codes. All are autoreleased.
#pragma once

#include <Foundation/NSError.hpp>
#include <Metal/MTLBinaryArchive.hpp>
#include <Metal/MTLCommandBuffer.hpp>
#include <Metal/MTLDynamicLibrary.hpp>
#include <Metal/MTLLibrary.hpp>
#include <string_view>

namespace metalloid::metal {

NS::Error* library_error(MTL::LibraryError code, std::string_view message);

// Pipelines have no public domain on a Mac: what fails there comes from the compiler behind the device.
NS::Error* pipeline_error(std::string_view message);

NS::Error* binary_archive_error(MTL::BinaryArchiveError code, std::string_view message);
NS::Error* dynamic_library_error(MTL::DynamicLibraryError code, std::string_view message);
NS::Error* command_buffer_error(MTL::CommandBufferError code, std::string_view message);

// For the `NS::Error**` argument of a call; the caller may have passed null.
inline void report(NS::Error** destination, NS::Error* error) {
  if (destination) *destination = error;
}

}  // namespace metalloid::metal
