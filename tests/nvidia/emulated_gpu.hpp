// Whole kernels on this processor, as a GPU would run them: the code that lower_kernel makes, with all threads of a
// threadgroup on stacks of their own, in SIMD-groups of emulated_simdgroup.hpp. Threadgroups run one after the other.
// Kernels take buffers, bytes and threadgroup memory; of the hardware's own arithmetic there is none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../support/jit.hpp"
#include "differ/run.hpp"
#include "nvidia/compile.hpp"

namespace metalloid::nvidia {

class EmulatedGpu {
 public:
  EmulatedGpu(const std::shared_ptr<const Library>& library, const std::string& kernel,
              const Architecture& architecture);

  const CompiledKernel& kernel() const { return kernel_; }

  // `log` is the address of a LogBuffer, for kernels that log.
  differ::Remains run(const differ::KernelCase& kernel, const differ::Launch& launch, uint64_t log = 0) const;

 private:
  std::vector<device::Slot> slots_;
  CompiledKernel kernel_;
  Jit jit_;
  void (*call_)(const uint64_t*) = nullptr;
};

}  // namespace metalloid::nvidia
