// The address spaces of a library's code (docs/compiler.md).
#pragma once

namespace metalloid::bitcode {

constexpr unsigned device_address_space = 1, threadgroup_address_space = 3, constant_address_space = 5;

}  // namespace metalloid::bitcode
