// Pages of memory from the kernel, and what /proc says about those of this process.
#include <mach/mach.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace {

constexpr mach_port_t own_task = 0x103;
constexpr mach_port_t host = 0x203;

vm_size_t page_size() {
  return static_cast<vm_size_t>(sysconf(_SC_PAGESIZE));
}

struct MemoryUse {
  mach_vm_size_t virtual_size = 0;
  mach_vm_size_t resident_size = 0;
};

MemoryUse memory_use() {
  MemoryUse pages;
  std::ifstream("/proc/self/statm") >> pages.virtual_size >> pages.resident_size;
  return {pages.virtual_size * page_size(), pages.resident_size * page_size()};
}

mach_vm_size_t most_resident(const rusage& usage) {
  return static_cast<mach_vm_size_t>(usage.ru_maxrss) * 1024;
}

time_value_t as_time_value(const timeval& time) {
  return {static_cast<integer_t>(time.tv_sec), static_cast<integer_t>(time.tv_usec)};
}

// Puts a structure into the caller's memory, whose size it states and learns in units of natural_t.
template <class Info>
kern_return_t give(const Info& info, task_info_t destination, mach_msg_type_number_t* count) {
  constexpr mach_msg_type_number_t size = sizeof(Info) / sizeof(natural_t);
  if (*count < size) return KERN_INVALID_ARGUMENT;
  std::memcpy(destination, &info, sizeof info);
  *count = size;
  return KERN_SUCCESS;
}

}  // namespace

vm_size_t vm_page_size = page_size();
vm_size_t vm_page_mask = page_size() - 1;
int vm_page_shift = __builtin_ctzl(page_size());
vm_size_t vm_kernel_page_size = page_size();
vm_size_t vm_kernel_page_mask = page_size() - 1;
int vm_kernel_page_shift = __builtin_ctzl(page_size());

mach_port_t mach_task_self_ = own_task;

mach_port_t mach_host_self() {
  return host;
}

kern_return_t vm_allocate(vm_map_t task, vm_address_t* address, vm_size_t size, int flags) {
  if (task != own_task) return KERN_INVALID_ARGUMENT;
  if (size == 0) {
    *address = 0;
    return KERN_SUCCESS;
  }
  const bool anywhere = (flags & VM_FLAGS_ANYWHERE) != 0;
  void* const wish = anywhere ? nullptr : reinterpret_cast<void*>(trunc_page(*address));
  void* const pages = mmap(wish, round_page(size), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | (anywhere ? 0 : MAP_FIXED_NOREPLACE), -1, 0);
  if (pages == MAP_FAILED) return errno == EINVAL ? KERN_INVALID_ADDRESS : KERN_NO_SPACE;
  *address = reinterpret_cast<vm_address_t>(pages);
  return KERN_SUCCESS;
}

kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size) {
  if (task != own_task) return KERN_INVALID_ARGUMENT;
  if (size == 0) return KERN_SUCCESS;
  const vm_address_t first = trunc_page(address);
  const int result = munmap(reinterpret_cast<void*>(first), round_page(address + size) - first);
  return result == 0 ? KERN_SUCCESS : KERN_INVALID_ADDRESS;
}

kern_return_t mach_vm_allocate(vm_map_t task, mach_vm_address_t* address, mach_vm_size_t size, int flags) {
  vm_address_t pages = *address;
  const kern_return_t result = vm_allocate(task, &pages, size, flags);
  if (result == KERN_SUCCESS) *address = pages;
  return result;
}

kern_return_t mach_vm_deallocate(vm_map_t task, mach_vm_address_t address, mach_vm_size_t size) {
  return vm_deallocate(task, address, size);
}

kern_return_t host_page_size(host_t, vm_size_t* size) {
  *size = page_size();
  return KERN_SUCCESS;
}

kern_return_t task_info(task_name_t task, task_flavor_t flavor, task_info_t info, mach_msg_type_number_t* count) {
  if (task != own_task) return KERN_INVALID_ARGUMENT;
  const MemoryUse use = memory_use();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const mach_vm_size_t most = std::max(most_resident(usage), use.resident_size);
  if (flavor == MACH_TASK_BASIC_INFO)
    return give(mach_task_basic_info_data_t{use.virtual_size, use.resident_size, most, as_time_value(usage.ru_utime),
                                            as_time_value(usage.ru_stime), 0, 0},
                info, count);
  if (flavor == TASK_VM_INFO)
    return give(
        task_vm_info{use.virtual_size, static_cast<integer_t>(page_size()), use.resident_size, most, use.resident_size},
        info, count);
  return KERN_INVALID_ARGUMENT;
}

const char* mach_error_string(kern_return_t error) {
  switch (error) {
    case KERN_SUCCESS:
      return "success";
    case KERN_INVALID_ADDRESS:
      return "no memory at this address";
    case KERN_PROTECTION_FAILURE:
      return "memory is protected";
    case KERN_NO_SPACE:
      return "no room for the memory that was asked for";
    case KERN_INVALID_ARGUMENT:
      return "an argument has a value that it may not have";
    case KERN_RESOURCE_SHORTAGE:
      return "the system has too little left";
    default:
      return "failure";
  }
}
