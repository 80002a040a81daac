#include "cpu/runtime_symbols.hpp"

#include <cmath>
#include <cstring>

#include "cpu/faults.hpp"

namespace metalloid::cpu {

namespace {

// What code generation makes calls of, where a processor has no instruction for it.
void add_c_library(RuntimeSymbols& symbols) {
  symbols.add<void*, void*, const void*, size_t>("memcpy", std::memcpy);
  symbols.add<void*, void*, const void*, size_t>("memmove", std::memmove);
  symbols.add<void*, void*, int, size_t>("memset", std::memset);
  symbols.add<int, const void*, const void*, size_t>("memcmp", std::memcmp);
  symbols.add<int, const void*, const void*, size_t>("bcmp", std::memcmp);
  symbols.add<float, float>("floorf", ::floorf);
  symbols.add<float, float>("ceilf", ::ceilf);
  symbols.add<float, float>("truncf", ::truncf);
  symbols.add<float, float>("roundf", ::roundf);
  symbols.add<float, float>("rintf", ::rintf);
  symbols.add<float, float>("nearbyintf", ::nearbyintf);
  symbols.add<float, float>("roundevenf", ::roundevenf);
  symbols.add<float, float>("sqrtf", ::sqrtf);
  symbols.add<float, float, float, float>("fmaf", ::fmaf);
  symbols.add<float, float, float>("fminf", ::fminf);
  symbols.add<float, float, float>("fmaxf", ::fmaxf);
  symbols.add<float, float, float>("fmodf", ::fmodf);
  symbols.add<float, float, int>("ldexpf", ::ldexpf);
  symbols.add<double, double>("floor", ::floor);
  symbols.add<double, double>("ceil", ::ceil);
  symbols.add<double, double>("trunc", ::trunc);
  symbols.add<double, double>("round", ::round);
  symbols.add<double, double>("rint", ::rint);
  symbols.add<double, double>("roundeven", ::roundeven);
  symbols.add<double, double>("sqrt", ::sqrt);
  symbols.add<double, double, double, double>("fma", ::fma);
  symbols.add<double, double, double>("fmod", ::fmod);
}

// For functions that were not inlined (lower/thread_values.hpp).
ThreadState* current_thread() {
  return &KernelThread::of_this_thread().current_thread();
}

}  // namespace

const RuntimeSymbols& RuntimeSymbols::all() {
  static const RuntimeSymbols symbols = [] {
    RuntimeSymbols all;
    add_c_library(all);
    add_number_conversions(all);
    all.add("metalloid.current_thread", current_thread);
    add_reference_functions(all);
    add_group_functions(all);
    add_vector_functions(all);
    add_log_function(all);
    add_texture_functions(all);
    add_validation_functions(all);
    return all;
  }();
  return symbols;
}

}  // namespace metalloid::cpu
