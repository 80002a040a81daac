#include "metal/errors.hpp"

#include "foundation/error.hpp"
#include "foundation/string.hpp"

namespace metalloid::metal {

STRING_CONSTANT(library_domain, "MTLLibraryErrorDomain")
STRING_CONSTANT(compiler_domain, "CompilerError")
STRING_CONSTANT(dynamic_library_domain, "MTLDynamicLibraryDomain")
STRING_CONSTANT(command_buffer_domain, "MTLCommandBufferErrorDomain")

NS::Error* library_error(MTL::LibraryError code, std::string_view message) {
  return foundation::autoreleased_error(library_domain, static_cast<NS::Integer>(code), message);
}

NS::Error* pipeline_error(std::string_view message) {
  constexpr NS::Integer code = 2;
  return foundation::autoreleased_error(compiler_domain, code, message);
}

NS::Error* binary_archive_error(MTL::BinaryArchiveError code, std::string_view message) {
  return foundation::autoreleased_error(MTL::BinaryArchiveDomain, static_cast<NS::Integer>(code), message);
}

NS::Error* dynamic_library_error(MTL::DynamicLibraryError code, std::string_view message) {
  return foundation::autoreleased_error(dynamic_library_domain, static_cast<NS::Integer>(code), message);
}

NS::Error* command_buffer_error(MTL::CommandBufferError code, std::string_view message) {
  return foundation::autoreleased_error(command_buffer_domain, static_cast<NS::Integer>(code), message);
}

}  // namespace metalloid::metal

namespace MTL {

STRING_CONSTANT(BinaryArchiveDomain, "MTLBinaryArchiveDomain")

}  // namespace MTL
