// What instrumented code calls (instrument.hpp).
#include "cpu/faults.hpp"
#include "cpu/runtime_symbols.hpp"
#include "cpu/validation/validator.hpp"

namespace metalloid::cpu {

namespace {

using validation::Validator;

// The validator's functions are not interrupted half-way.
template <class Call>
auto with_validator(Call call) {
  KernelThread& kernel_thread = KernelThread::of_this_thread();
  const NativeSection native(kernel_thread);
  const ThreadState& thread = kernel_thread.current_thread();
  return call(static_cast<Validator&>(*thread.threadgroup->grid->events), thread);
}

void* validate(void* address, uint64_t bytes, uint32_t site, const void* value) {
  return with_validator([&](Validator& validator, const ThreadState& thread) {
    return validator.access(thread, address, bytes, site, value);
  });
}

void* validate_matrix(void* address, uint64_t elements_per_row, uint32_t transpose, uint32_t element_bytes,
                      uint32_t site) {
  return with_validator([&](Validator& validator, const ThreadState& thread) {
    return validator.matrix(thread, address, elements_per_row, transpose != 0, element_bytes, site);
  });
}

void validate_barrier(uint32_t site) {
  with_validator([&](Validator& validator, const ThreadState& thread) { validator.at_barrier(thread, site); });
}

void validate_fence(uint32_t site) {
  with_validator([&](Validator& validator, const ThreadState& thread) { validator.at_fence(thread, site); });
}

void validate_loop(uint32_t site) {
  with_validator([&](Validator& validator, const ThreadState& thread) { validator.in_loop(thread, site); });
}

}  // namespace

void add_validation_functions(RuntimeSymbols& symbols) {
  symbols.add("metalloid.validate", validate);
  symbols.add("metalloid.validate_matrix", validate_matrix);
  symbols.add("metalloid.validate_barrier", validate_barrier);
  symbols.add("metalloid.validate_fence", validate_fence);
  symbols.add("metalloid.validate_loop", validate_loop);
}

}  // namespace metalloid::cpu
