// What a prepared module (bitcode/prepare.hpp) goes through on its way to PTX, in this order. Before the first, it has
// been retargeted: device memory is address space 1, threadgroup memory 3, everything else generic (0); the kernel is
// the one function with a body that is not internal.
#pragma once

#include <llvm/IR/Module.h>

#include <metalloid/reflection.hpp>
#include <metalloid/result.hpp>
#include <span>
#include <vector>

#include "device/pipeline.hpp"
#include "nvidia/compile.hpp"

namespace metalloid::nvidia::lower {

// The kernel's parameters become those of a launch (compile.hpp), its grid values are computed from special registers.
// Threads of an edge of the grid that it does not fill end at once; the others are numbered as in a smaller
// threadgroup. Gives the entry, with the calling convention of kernels.
llvm::Function* make_entry(llvm::Function& kernel, const Function& reflection, std::span<const device::Slot> slots,
                           const Assumptions& assumptions);

// metal.simdgroup_load and _store become each lane's loads and stores of its two elements.
void lower_matrices(llvm::Module& module, const Architecture& architecture);

// metal.simdgroup_multiply_accumulate, which goes through optimisation as it is: on the tensor cores, as accurate as
// float arithmetic. Neighbours that share an operand are multiplied by one instruction.
void combine_matrix_products(llvm::Module& module, const Architecture& architecture);

// metal.threadgroup_barrier. Before the group functions, which change the control flow between barriers.
void lower_barriers(llvm::Module& module);

// metal.simd_*, metal.quad_* and metal.simdgroup_barrier become shuffles and votes among the lanes that are there;
// metal.thread_index_in_simdgroup and metal.threads_per_simdgroup too. The last of those that ask where lanes are
// together: takes out the marks of lane_order.hpp.
void lower_group_functions(llvm::Module& module, const Architecture& architecture = {});

// Fences for the threads that they are for; before the bodies of builtins are inlined.
void use_hardware_fences(llvm::Module& module);

// Instructions of the hardware in place of the bodies of fast math builtins, where they are as exact as Metal asks
// (docs/builtins.md); before the bodies are inlined.
void use_hardware_math(llvm::Module& module);

// Copies of few bytes become loads and stores, so that what is copied through a thread's memory can stay in registers.
void expand_small_copies(llvm::Module& module);

// Which buffers the kernel may write to, by slot. Where they are assumed to be apart, what follows from that is said of
// their loads. Once everything is inlined.
std::vector<bool> use_buffers(llvm::Function& entry, std::span<const device::Slot> slots,
                              const Assumptions& assumptions);

// metal.os_log writes to the LogBuffer of the launch: what each call says apart from its arguments. An error if that is
// not known now, or if a function that is not part of the entry logs.
Result<std::vector<LogSite>> lower_logging(llvm::Module& module, llvm::Function& entry);

}  // namespace metalloid::nvidia::lower
