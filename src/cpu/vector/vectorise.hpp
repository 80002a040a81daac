// Whole-function vectorisation: a module in lane form (lane_form.hpp) becomes one whose entry runs all lanes of a
// group.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <metalloid/result.hpp>

#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

class Explanation;
struct WidthChoice;

// The module is lowered, retargeted and in lane form for variant.width. Afterwards its entry is optimised vector code.
// With `choice`, unless another width suits the kernel better: then the module is of no use, and `choice` says which.
// With `explanation`, what is in the kernel's way is noted there.
Status vectorise(llvm::Module& module, const Variant& variant, llvm::TargetMachine& machine,
                 WidthChoice* choice = nullptr, Explanation* explanation = nullptr);

}  // namespace metalloid::cpu::vector
