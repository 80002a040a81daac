/* The clocks of a Mac. One tick is one nanosecond here, as on a Mac with an Intel processor; mach_timebase_info says
 * so. The absolute clock stands still while the machine sleeps, the continuous one goes on. */
#pragma once

#include <mach/kern_return.h>
#include <stdint.h>

struct mach_timebase_info {
  uint32_t numer;
  uint32_t denom;
};
typedef struct mach_timebase_info* mach_timebase_info_t;
typedef struct mach_timebase_info mach_timebase_info_data_t;

#ifdef __cplusplus
extern "C" {
#endif

kern_return_t mach_timebase_info(mach_timebase_info_t info);
uint64_t mach_absolute_time(void);
uint64_t mach_approximate_time(void);
uint64_t mach_continuous_time(void);
uint64_t mach_continuous_approximate_time(void);
kern_return_t mach_wait_until(uint64_t deadline);

#ifdef __cplusplus
}
#endif
