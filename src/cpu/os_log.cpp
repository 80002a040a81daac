// metal.os_log: a kernel's message, formatted and handed to whoever submitted the kernel.
#include "cpu/faults.hpp"
#include "cpu/pipeline.hpp"
#include "cpu/runtime_symbols.hpp"
#include "device/device.hpp"
#include "device/log_format.hpp"

namespace metalloid::cpu {

namespace {

void os_log(int level, const char* subsystem, const char* category, const char* format, const uint64_t* slots,
            uint32_t bytes) {
  KernelThread& kernel_thread = KernelThread::of_this_thread();
  const NativeSection native(kernel_thread);
  const GridState& grid = *kernel_thread.current_thread().threadgroup->grid;
  device::Log log;
  log.level = level;
  log.subsystem = subsystem ? subsystem : "";
  log.category = category ? category : "";
  log.message = device::format_log(format, slots, bytes);
  log.kernel = grid.pipeline->name;
  log.encoder_label = grid.encoder_label ? grid.encoder_label : "";
  (*grid.log)(log);
}

}  // namespace

void add_log_function(RuntimeSymbols& symbols) {
  symbols.add("metal.os_log", os_log);
}

}  // namespace metalloid::cpu
