/* Part of <CoreFoundation/CoreFoundation.h>, under the name that it has on a Mac. */
#pragma once

#include <CoreFoundation/CoreFoundation.h>
