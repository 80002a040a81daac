#include "mps/libraries/cpu/instructions.hpp"

#include <cblas.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <dnnl.hpp>
#include <string_view>

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

// OpenBLAS chooses its kernels by names of processors, and takes an old one's for a name that it has not heard of.
bool openblas_knows_processor() {
#if defined(__x86_64__)
  constexpr std::string_view with_avx2[] = {"Excavator", "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"};
  static const bool knows = !__builtin_cpu_supports("avx2") || std::ranges::count(with_avx2, openblas_get_corename());
  return knows;
#else
  return true;
#endif
}

}  // namespace metalloid::mps::cpu
