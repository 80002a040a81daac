// Where all lanes of a SIMD-group meet.
//
// A call is *together* if every lane of the SIMD-group that has not ended executes it, and the same number of times.
// There, shuffles and votes may name all 32 lanes: they wait for each other, however the lanes came there, and do not
// wait for lanes that have ended. Elsewhere lanes are *apart*.
//
// The rule, on the control-flow graph of a kernel:
// - A branch is divergent if LLVM's uniformity analysis says so, with the seeds of group_functions_together.cpp.
// - A side from which no convergent call can be reached ends: its lanes run on to the end of the kernel and are not
//   waited for. Sides that end are cut off from the graph.
// - A divergent branch that has two sides left divides. A block is apart if it depends on a branch that divides, by
//   control dependence in the graph that is left, or on any branch in a block that is apart, or if it is in a loop
//   whose entry is apart.
// Functions that are not inlined into a kernel do not know who calls them: nothing is together in them.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>

namespace metalloid::nvidia::lower {

class Together {
 public:
  explicit Together(llvm::Function& function);

  bool is_known() const { return is_kernel_; }
  bool holds(const llvm::BasicBlock* block) const { return is_kernel_ && !apart_.contains(block); }

  // Of a block that is together: whether its branch divides.
  bool divides(const llvm::BasicBlock* block) const { return dividing_.contains(block); }

  // Whether a convergent call can be reached from a block.
  bool goes_on(const llvm::BasicBlock* block) const { return unfinished_.contains(block); }

  // Blocks from which some lanes may go to their end while others go on.
  const llvm::SmallPtrSetImpl<const llvm::BasicBlock*>& exits() const { return exits_; }

 private:
  bool is_kernel_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> unfinished_, dividing_, apart_, exits_;
};

}  // namespace metalloid::nvidia::lower
