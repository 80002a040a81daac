/* The part of Core Foundation that programs for Metal use next to NS::: reference counts, and the time. */
#pragma once

#include <stdint.h>

typedef const void* CFTypeRef;
typedef const struct __CFString* CFStringRef;
typedef const struct __CFAllocator* CFAllocatorRef;
typedef signed long CFIndex;
typedef unsigned long CFTypeID;
typedef unsigned long CFOptionFlags;
typedef unsigned long CFHashCode;
typedef unsigned char Boolean;
typedef double CFTimeInterval;
typedef CFTimeInterval CFAbsoluteTime;

#define kCFAllocatorDefault ((CFAllocatorRef)0)

#ifdef __cplusplus
extern "C" {
#endif

/* Objects are those of NS:: and MTL::. */
CFTypeRef CFRetain(CFTypeRef object);
void CFRelease(CFTypeRef object);
CFIndex CFGetRetainCount(CFTypeRef object);

/* Seconds since the first moment of 2001, in Greenwich. */
CFAbsoluteTime CFAbsoluteTimeGetCurrent(void);
extern const CFTimeInterval kCFAbsoluteTimeIntervalSince1970;

#ifdef __cplusplus
}
#endif
