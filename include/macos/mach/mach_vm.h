/* Part of <mach/mach.h>, under the name that it has on a Mac. */
#pragma once

#include <mach/mach.h>
