// A loop over the groups of a threadgroup in the code itself. A kernel without loops is so short that what comes before
// the first result, addresses of arguments and constants in all lanes, is a good part of it: once for all groups.
#pragma once

#include <llvm/IR/Function.h>

#include <functional>

#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

// Whether groups of such a variant may be. If so, accesses are to be marked (fetch_ahead.hpp).
inline bool may_be_looped_over(const Variant& variant) {
  return !variant.is_partial && !variant.is_whole && variant.positions == LanePositions::row;
}

// Widened code of one group becomes code of as many as its state says, unless it has loops or waits for other groups;
// `simplify` takes away what has no effect. The function itself comes first of those that there are then.
using LoopsOverGroups = llvm::SmallVector<llvm::Function*, 2>;
LoopsOverGroups loop_over_groups(llvm::Function& function, const Variant& variant,
                                 const std::function<void(llvm::Function&)>& simplify);

// Whether it did.
bool runs_many_groups(const llvm::Function& function);

}  // namespace metalloid::cpu::vector
