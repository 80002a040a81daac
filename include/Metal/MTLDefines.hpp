// The macros with which enumerations and constants are declared, and the few C types of other Apple frameworks that
// Metal's signatures mention. MTL_PRIVATE_IMPLEMENTATION may be defined or not: the code it would emit is in our
// library.
#pragma once

#include "../Foundation/NSDefines.hpp"

#define _MTL_EXPORT _NS_EXPORT
#define _MTL_EXTERN _NS_EXTERN
#define _MTL_INLINE _NS_INLINE
#define _MTL_PACKED _NS_PACKED

#define _MTL_CONST(type, name) _NS_CONST(type, name)
#define _MTL_ENUM(type, name) _NS_ENUM(type, name)
#define _MTL_OPTIONS(type, name) _NS_OPTIONS(type, name)

#define _MTL_VALIDATE_SIZE(ns, name) _NS_VALIDATE_SIZE(ns, name)
#define _MTL_VALIDATE_ENUM(ns, name) _NS_VALIDATE_ENUM(ns, name)

typedef double CFTimeInterval;
typedef struct __IOSurface* IOSurfaceRef;
typedef int kern_return_t;
typedef unsigned int task_id_token_t;
