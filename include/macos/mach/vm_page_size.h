/* The size of a page of memory, which newBuffer(pointer, length, options, deallocator) wants memory to be aligned to.
 */
#pragma once

#include <mach/vm_types.h>

#ifdef __cplusplus
extern "C" {
#endif

extern vm_size_t vm_page_size;
extern vm_size_t vm_page_mask;
extern int vm_page_shift;
extern vm_size_t vm_kernel_page_size;
extern vm_size_t vm_kernel_page_mask;
extern int vm_kernel_page_shift;

#ifdef __cplusplus
}
#endif

#define round_page(x) (((vm_offset_t)(x) + vm_page_mask) & ~(vm_offset_t)vm_page_mask)
#define trunc_page(x) ((vm_offset_t)(x) & ~(vm_offset_t)vm_page_mask)
#define mach_vm_round_page(x) (((mach_vm_offset_t)(x) + vm_page_mask) & ~(mach_vm_offset_t)vm_page_mask)
#define mach_vm_trunc_page(x) ((mach_vm_offset_t)(x) & ~(mach_vm_offset_t)vm_page_mask)
