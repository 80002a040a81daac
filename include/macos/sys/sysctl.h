/* What the machine is, by name: hw.memsize, hw.ncpu, machdep.cpu.brand_string, kern.osproductversion, ... A name that
 * is not known is an error, ENOENT, and nothing can be changed, EPERM. A size is asked for with a null pointer as the
 * buffer; a buffer that is too small is filled and the error is ENOMEM. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define CTL_KERN 1
#define CTL_HW 6

#define KERN_OSTYPE 1
#define KERN_OSRELEASE 2
#define KERN_HOSTNAME 10
#define KERN_OSVERSION 65

#define HW_MACHINE 1
#define HW_MODEL 2
#define HW_NCPU 3
#define HW_BYTEORDER 4
#define HW_PAGESIZE 7
#define HW_MEMSIZE 24
#define HW_AVAILCPU 25

#ifdef __cplusplus
extern "C" {
#endif

int sysctlbyname(const char* name, void* value, size_t* size, void* new_value, size_t new_size);
int sysctl(int* name, unsigned name_length, void* value, size_t* size, void* new_value, size_t new_size);

#ifdef __cplusplus
}
#endif
