// Who made the host's processor: what its caches look for by themselves, and which kernels of libraries suit it, is
// known by that alone.
#pragma once

namespace metalloid::device {

enum class Maker { amd, intel, other };

inline Maker host_maker() {
#if defined(__x86_64__)
  if (__builtin_cpu_is("intel")) return Maker::intel;
  if (__builtin_cpu_is("amd")) return Maker::amd;
#endif
  return Maker::other;
}

}  // namespace metalloid::device
