// The entry of a pipeline: `void metalloid.entry(ThreadState*)` loads what the kernel's parameters stand for, from the
// slots of the dispatch and from the thread's state, and goes on with the kernel's code, which moves there.
#pragma once

#include <llvm/IR/Module.h>

#include <span>

#include "cpu/vector/variant.hpp"
#include "device/pipeline.hpp"

namespace metalloid::cpu::lower {

// With a variant, in lane form (vector/lane_form.hpp).
void make_entry(llvm::Function& kernel, const Function& reflection, std::span<const device::Slot> slots,
                const vector::Variant* variant);

}  // namespace metalloid::cpu::lower
