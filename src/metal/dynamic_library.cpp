// Dynamic libraries: functions that source calls without having their bodies, found when a pipeline is made. The
// compiler wants all bodies in one source, so there are none here (Device::supportsDynamicLibraries() is false), and
// every way to make one says so.
#include <Metal/MTLDynamicLibrary.hpp>

#include "metal/device.hpp"
#include "metal/errors.hpp"

namespace MTL {

using namespace metalloid::metal;

static DynamicLibrary* refuse(NS::Error** error) {
  report(error, dynamic_library_error(
                    DynamicLibraryErrorUnsupported,
                    "dynamic libraries are not supported (Device::supportsDynamicLibraries() is false); compile the "
                    "functions in one source, or link [[visible]] functions to a pipeline"));
  return nullptr;
}

DynamicLibrary* Device::newDynamicLibrary(const Library*, NS::Error** error) {
  return body(this) ? refuse(error) : nullptr;
}

DynamicLibrary* Device::newDynamicLibrary(const NS::URL*, NS::Error** error) {
  return body(this) ? refuse(error) : nullptr;
}

// Messages to nil: there is no other DynamicLibrary.
Device* DynamicLibrary::device() const {
  return nullptr;
}

NS::String* DynamicLibrary::label() const {
  return nullptr;
}

void DynamicLibrary::setLabel(const NS::String*) {}

NS::String* DynamicLibrary::installName() const {
  return nullptr;
}

bool DynamicLibrary::serializeToURL(const NS::URL*, NS::Error**) {
  return false;
}

}  // namespace MTL
