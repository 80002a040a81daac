/* The older names of <Availability.h>. */
#pragma once

#include <Availability.h>

#define MAC_OS_X_VERSION_10_11 __MAC_10_11
#define MAC_OS_X_VERSION_10_12 __MAC_10_12
#define MAC_OS_X_VERSION_10_13 __MAC_10_13
#define MAC_OS_X_VERSION_10_14 __MAC_10_14
#define MAC_OS_X_VERSION_10_15 __MAC_10_15
#define MAC_OS_VERSION_11_0 __MAC_11_0
#define MAC_OS_VERSION_12_0 __MAC_12_0
#define MAC_OS_VERSION_13_0 __MAC_13_0
#define MAC_OS_VERSION_14_0 __MAC_14_0
#define MAC_OS_VERSION_15_0 __MAC_15_0

#define MAC_OS_X_VERSION_MIN_REQUIRED __MAC_OS_X_VERSION_MIN_REQUIRED
#define MAC_OS_X_VERSION_MAX_ALLOWED __MAC_OS_X_VERSION_MAX_ALLOWED

#define AVAILABLE_MAC_OS_X_VERSION_10_11_AND_LATER
#define DEPRECATED_ATTRIBUTE __attribute__((deprecated))
#define UNAVAILABLE_ATTRIBUTE __attribute__((unavailable))
#define WEAK_IMPORT_ATTRIBUTE
