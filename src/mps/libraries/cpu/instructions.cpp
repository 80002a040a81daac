#include "mps/libraries/cpu/instructions.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <dnnl.hpp>

namespace metalloid::mps::cpu {

namespace {

using Isa = dnnl::cpu_isa;

// Some virtual machines say that their processor multiplies tiles (AMX), but keep back what tiles it has. oneDNN 2.6
// takes them for tiles of no size, and its kernels are illegal instructions then.
bool hides_tiles() {
#if defined(__x86_64__)
  constexpr unsigned leaf_of_tiles = 0x1d;
  unsigned palettes = 0, b = 0, c = 0, d = 0;
  return !__get_cpuid_count(leaf_of_tiles, 0, &palettes, &b, &c, &d) || palettes == 0;
#else
  return false;
#endif
}

bool has_tiles() {
  return dnnl::get_effective_cpu_isa() == Isa::avx512_core_amx;
}

}  // namespace

void limit_instructions() {
  if (has_tiles() && hides_tiles()) dnnl::set_max_cpu_isa(Isa::avx512_core_bf16);
}

// Where the program used oneDNN before us, there was nothing left to limit.
bool has_bfloat_products() {
  return has_tiles() ? !hides_tiles() : dnnl::get_effective_cpu_isa() == Isa::avx512_core_bf16;
}

bool has_int8_products() {
  return has_bfloat_products() || dnnl::get_effective_cpu_isa() == Isa::avx512_core_vnni;
}

}  // namespace metalloid::mps::cpu
