// Compiled functions that other libraries link with when a pipeline is made.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Device;

_MTL_ENUM(NS::UInteger, DynamicLibraryError){
    DynamicLibraryErrorNone = 0,
    DynamicLibraryErrorInvalidFile = 1,
    DynamicLibraryErrorCompilationFailure = 2,
    DynamicLibraryErrorUnresolvedInstallName = 3,
    DynamicLibraryErrorDependencyLoadFailure = 4,
    DynamicLibraryErrorUnsupported = 5,
};

class _MTL_EXPORT DynamicLibrary : public NS::Referencing<DynamicLibrary> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::String* installName() const;
  bool serializeToURL(const NS::URL* url, NS::Error** error);
};

}  // namespace MTL
