// metalloid compile --device: code for NVIDIA's GPUs in the library itself (nvidia/ahead.hpp).
#pragma once

#include <memory>
#include <metalloid/library.hpp>
#include <string>
#include <vector>

namespace metalloid::tool {

// Says on standard error which kernels have none, because they take function constants.
void add_device_code(const std::shared_ptr<Library>& library, const std::vector<std::string>& devices, bool cubin);

}  // namespace metalloid::tool
