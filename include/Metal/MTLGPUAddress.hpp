// An address in the memory of a device.
#pragma once

#include <cstdint>

namespace MTL {

using GPUAddress = uint64_t;

}  // namespace MTL
