// metalloid bench mps on an NVIDIA device.
#pragma once

#include <Metal/Metal.hpp>
#include <string>

namespace metalloid::tool {

void bench_mps_on_nvidia(MTL::Device* device, const std::string& json_file);

}  // namespace metalloid::tool
