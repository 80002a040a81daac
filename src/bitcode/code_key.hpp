// By what a device keeps the code of a pipeline: everything that it is made from and that is not the device's own.
#pragma once

#include <metalloid/result.hpp>
#include <span>
#include <string_view>

#include "cache/disk_cache.hpp"
#include "device/pipeline.hpp"

namespace metalloid::bitcode {

// `compiler` is the fingerprint of what makes the code; the caller adds what else that depends on.
Result<cache::CacheKey> key_of(std::string_view compiler, const device::PipelineRequest& request,
                               std::span<const device::Slot> slots);

}  // namespace metalloid::bitcode
