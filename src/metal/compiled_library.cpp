// Libraries that were made with Metalloid's own interface, as Metal's.
#include <metalloid/metal.hpp>

#include "metal/library.hpp"

namespace metalloid {

MTL::Library* new_metal_library(MTL::Device* device, std::shared_ptr<Library> library) {
  if (!device || !library) return nullptr;
  return new metal::LibraryObject(metal::body(device), std::move(library));
}

}  // namespace metalloid
