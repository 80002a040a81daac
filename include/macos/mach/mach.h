/* The few calls to a Mac's kernel that programs for Metal make: pages of memory, and how much memory this process uses.
 * The only task there is is one's own. */
#pragma once

#include <mach/kern_return.h>
#include <mach/mach_time.h>
#include <mach/vm_page_size.h>
#include <mach/vm_types.h>
#include <sys/time.h>

typedef natural_t mach_port_t;
typedef mach_port_t task_t;
typedef mach_port_t task_name_t;
typedef mach_port_t host_t;
typedef mach_port_t vm_map_t;
typedef natural_t mach_msg_type_number_t;

#define MACH_PORT_NULL 0

#define VM_FLAGS_FIXED 0x0000
#define VM_FLAGS_ANYWHERE 0x0001

/* What task_info() tells. A structure is asked for by its flavour, with its size in units of natural_t. */
typedef natural_t task_flavor_t;
typedef integer_t* task_info_t;

typedef struct time_value {
  integer_t seconds;
  integer_t microseconds;
} time_value_t;

#define MACH_TASK_BASIC_INFO 20
struct mach_task_basic_info {
  mach_vm_size_t virtual_size;
  mach_vm_size_t resident_size;
  mach_vm_size_t resident_size_max;
  time_value_t user_time;
  time_value_t system_time;
  integer_t policy;
  integer_t suspend_count;
};
typedef struct mach_task_basic_info mach_task_basic_info_data_t;
typedef struct mach_task_basic_info* mach_task_basic_info_t;
#define MACH_TASK_BASIC_INFO_COUNT (sizeof(mach_task_basic_info_data_t) / sizeof(natural_t))

#define TASK_VM_INFO 22
struct task_vm_info {
  mach_vm_size_t virtual_size;
  integer_t page_size;
  mach_vm_size_t resident_size;
  mach_vm_size_t resident_size_peak;
  mach_vm_size_t phys_footprint;
};
typedef struct task_vm_info task_vm_info_data_t;
typedef struct task_vm_info* task_vm_info_t;
#define TASK_VM_INFO_COUNT ((mach_msg_type_number_t)(sizeof(task_vm_info_data_t) / sizeof(natural_t)))

#ifdef __cplusplus
extern "C" {
#endif

extern mach_port_t mach_task_self_;
#define mach_task_self() mach_task_self_
mach_port_t mach_host_self(void);

kern_return_t vm_allocate(vm_map_t task, vm_address_t* address, vm_size_t size, int flags);
kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size);
kern_return_t mach_vm_allocate(vm_map_t task, mach_vm_address_t* address, mach_vm_size_t size, int flags);
kern_return_t mach_vm_deallocate(vm_map_t task, mach_vm_address_t address, mach_vm_size_t size);
kern_return_t host_page_size(host_t host, vm_size_t* size);
kern_return_t task_info(task_name_t task, task_flavor_t flavor, task_info_t info, mach_msg_type_number_t* count);
const char* mach_error_string(kern_return_t error);

#ifdef __cplusplus
}
#endif
