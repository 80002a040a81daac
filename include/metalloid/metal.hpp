// Where the compiler's interface and Metal's meet: what metal-cpp has no call for.
#pragma once

#include <Metal/Metal.hpp>
#include <memory>
#include <metalloid/library.hpp>

namespace metalloid {

// A library that was compiled or opened here, as a Metal library of the device. The caller owns it, as of every `new`.
MTL::Library* new_metal_library(MTL::Device* device, std::shared_ptr<Library> library);

}  // namespace metalloid
