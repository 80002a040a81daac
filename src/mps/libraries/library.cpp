#include "mps/libraries/library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "mps/libraries/nvidia/library.hpp"

namespace metalloid::mps {
namespace {

// What a module of this folder offers under this name.
using OpenLibrary = const MathLibrary* (*)();
constexpr const char* entry_point = "metalloid_open_math_library";

struct Module {
  const MathLibrary* library = nullptr;
  std::string problem;
};

// The module lies beside our own library, or where the system looks for libraries.
Module open_module(const char* file) {
  void* handle = nullptr;
  if (Dl_info here; dladdr(reinterpret_cast<void*>(&open_module), &here) && here.dli_fname) {
    const std::string_view path = here.dli_fname;
    const std::string beside = std::string(path.substr(0, path.rfind('/') + 1)) + file;
    handle = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle) handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return {nullptr, dlerror()};
  const auto open = reinterpret_cast<OpenLibrary>(dlsym(handle, entry_point));
  if (!open) return {nullptr, dlerror()};
  return {open(), ""};
}

const Module& module_of(const device::Info& device) {
  if (device.architecture.starts_with("sm_")) {
    static const Module nvidia{nvidia::math_library(), nvidia::what_is_missing()};
    return nvidia;
  }
  static const Module cpu = open_module("libmetalloid_mps_cpu.so");
  return cpu;
}

std::atomic<bool>& allowed() {
  static std::atomic<bool> allowed = [] {
    const char* value = std::getenv("METALLOID_MPS_LIBRARIES");
    return !value || std::string_view(value) != "0";
  }();
  return allowed;
}

}  // namespace

const MathLibrary* math_library(const device::Info& device) {
  return allowed() ? module_of(device).library : nullptr;
}

std::string missing_math_libraries(const device::Info& device) {
  return allowed() ? module_of(device).problem : "METALLOID_MPS_LIBRARIES is 0";
}

void allow_math_libraries(bool allow) {
  allowed() = allow;
}

}  // namespace metalloid::mps
