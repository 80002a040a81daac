/* From which macOS on something is there. Everything that our headers declare is always there, so that what a program
 * notes about its own functions says nothing either. The macOS whose Metal we implement is 15. */
#pragma once

#define __MAC_10_11 101100
#define __MAC_10_12 101200
#define __MAC_10_13 101300
#define __MAC_10_14 101400
#define __MAC_10_15 101500
#define __MAC_11_0 110000
#define __MAC_11_3 110300
#define __MAC_12_0 120000
#define __MAC_12_3 120300
#define __MAC_13_0 130000
#define __MAC_13_3 130300
#define __MAC_14_0 140000
#define __MAC_14_2 140200
#define __MAC_14_4 140400
#define __MAC_15_0 150000
#define __MAC_15_2 150200
#define __MAC_15_4 150400
#define __MAC_26_0 260000

#ifndef __MAC_OS_X_VERSION_MIN_REQUIRED
#define __MAC_OS_X_VERSION_MIN_REQUIRED __MAC_15_0
#endif
#ifndef __MAC_OS_X_VERSION_MAX_ALLOWED
#define __MAC_OS_X_VERSION_MAX_ALLOWED __MAC_15_0
#endif

#define API_AVAILABLE(...)
#define API_AVAILABLE_BEGIN(...)
#define API_AVAILABLE_END
#define API_UNAVAILABLE(...)
#define API_UNAVAILABLE_BEGIN(...)
#define API_UNAVAILABLE_END
#define API_DEPRECATED(...)
#define API_DEPRECATED_BEGIN(...)
#define API_DEPRECATED_END
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define SPI_AVAILABLE(...)
#define __API_AVAILABLE(...)
#define __API_UNAVAILABLE(...)
#define __API_DEPRECATED(...)
#define __API_DEPRECATED_WITH_REPLACEMENT(...)
#define __OSX_AVAILABLE(...)
#define __OSX_DEPRECATED(...)
#define __OSX_AVAILABLE_STARTING(...)
#define __OSX_AVAILABLE_BUT_DEPRECATED(...)
