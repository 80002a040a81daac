// Whole-function vectorisation: a module in lane form (lane_form.hpp) becomes one whose entry runs all lanes of a group.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <metalloid/result.hpp>
#include <optional>
#include <span>

#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

// The module is lowered, retargeted and in lane form for variant.width. Afterwards its entry is optimised vector code.
Status vectorise(llvm::Module& module, const Variant& variant, llvm::TargetMachine& machine);

}  // namespace metalloid::cpu::vector
