// The part of metalloid bench mps that is about memory.
#pragma once

#include <Metal/Metal.hpp>
#include <nlohmann/json.hpp>

namespace metalloid::tool {

nlohmann::json bench_mps_memory(const NS::SharedPtr<MTL::Device>& device);

}  // namespace metalloid::tool
