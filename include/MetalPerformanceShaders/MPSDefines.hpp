// The macros with which enumerations and constants of Metal Performance Shaders are declared.
//
// These headers are to MPS what metal-cpp is to Metal: the classes, methods and constants of the documented interface
// without their prefix, `alloc()->init(...)` in place of initWith…, and methods by the first word of their Swift name:
// encodeToCommandBuffer:leftMatrix:… is encode(commandBuffer, leftMatrix, …).
#pragma once

#include "../Metal/MTLDefines.hpp"

#define _MPS_EXPORT _NS_EXPORT
#define _MPS_EXTERN _NS_EXTERN
#define _MPS_CONST(type, name) _NS_CONST(type, name)
#define _MPS_ENUM(type, name) _NS_ENUM(type, name)
#define _MPS_OPTIONS(type, name) _NS_OPTIONS(type, name)
