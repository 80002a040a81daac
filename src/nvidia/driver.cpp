#include "nvidia/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace metalloid::nvidia {

namespace {

Result<Driver> open_driver() {
  const char* named = std::getenv("METALLOID_CUDA_DRIVER");
  return Driver::open(named && *named ? named : "libcuda.so.1");
}

}  // namespace

const Result<Driver>& Driver::shared() {
  static const auto& driver = *new Result<Driver>(open_driver());
  return driver;
}

// The library is never closed: the driver keeps threads and handlers of its own until the process ends.
Result<Driver> Driver::open(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return Error{fmt::format("there is no NVIDIA driver: {}", dlerror())};
  Driver driver;
#define METALLOID_FIND(name, symbol, ...) driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(handle, symbol));
#define METALLOID_NEED(name, symbol, ...) \
  METALLOID_FIND(name, symbol)            \
  if (!driver.name)                       \
    return Error{fmt::format("the NVIDIA driver '{}' has no function {}; a newer driver is needed", library, symbol)};
  METALLOID_CUDA_FUNCTIONS(METALLOID_NEED)
  METALLOID_NEWER_CUDA_FUNCTIONS(METALLOID_FIND)
#undef METALLOID_NEED
#undef METALLOID_FIND
  if (const cuda::Code code = driver.init(0); code != cuda::Code::success)
    return Error{fmt::format("the NVIDIA driver does not start: {}", driver.describe(code))};
  return driver;
}

std::string Driver::describe(cuda::Code code) const {
  const char *name = nullptr, *sentence = nullptr;
  get_error_name(code, &name);
  get_error_string(code, &sentence);
  if (!name || !sentence) return fmt::format("CUDA error {}", static_cast<int>(code));
  return fmt::format("{}: {}", name, sentence);
}

bool breaks_context(cuda::Code code) {
  switch (code) {
    case cuda::Code::ecc_uncorrectable:
    case cuda::Code::nvlink_uncorrectable:
    case cuda::Code::illegal_address:
    case cuda::Code::launch_timeout:
    case cuda::Code::assert:
    case cuda::Code::hardware_stack_error:
    case cuda::Code::illegal_instruction:
    case cuda::Code::misaligned_address:
    case cuda::Code::invalid_address_space:
    case cuda::Code::invalid_program_counter:
    case cuda::Code::launch_failed:
    case cuda::Code::unknown:
      return true;
    default:
      return false;
  }
}

}  // namespace metalloid::nvidia
