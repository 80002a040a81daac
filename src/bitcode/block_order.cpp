#include "bitcode/block_order.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>

#include <algorithm>

namespace metalloid::bitcode {

namespace {

class Ordering {
 public:
  explicit Ordering(const llvm::LoopInfo& loops) : loops_(loops) {}

  // Appends what is in `loop` (the whole function if null), from its first block on; inner loops count as one block.
  void append(const llvm::Loop* loop, llvm::BasicBlock* first) {
    std::vector<llvm::BasicBlock*> finished;
    visit(loop, first, finished);
    std::reverse(finished.begin(), finished.end());
    for (llvm::BasicBlock* block : finished) {
      if (const llvm::Loop* inner = loop_inside(loop, block))
        append(inner, block);
      else
        order_.push_back(block);
    }
  }

  std::vector<llvm::BasicBlock*> take() { return std::move(order_); }

 private:
  // The loop around a block that is directly inside `loop`; null if the block itself is.
  const llvm::Loop* loop_inside(const llvm::Loop* loop, const llvm::BasicBlock* block) const {
    const llvm::Loop* inner = loops_.getLoopFor(block);
    while (inner != loop && inner->getParentLoop() != loop) inner = inner->getParentLoop();
    return inner == loop ? nullptr : inner;
  }

  void visit(const llvm::Loop* loop, llvm::BasicBlock* start, std::vector<llvm::BasicBlock*>& finished) {
    struct Frame {
      llvm::BasicBlock* block;
      llvm::SmallVector<llvm::BasicBlock*> next;
    };
    llvm::SmallPtrSet<llvm::BasicBlock*, 32> seen;
    std::vector<Frame> stack;
    const auto enter = [&](llvm::BasicBlock* block) {
      if (loop && !loop->contains(block)) return;
      if (const llvm::Loop* inner = loop_inside(loop, block)) block = inner->getHeader();
      if (!seen.insert(block).second) return;
      Frame frame{block, {}};
      if (const llvm::Loop* inner = loop_inside(loop, block))
        inner->getExitBlocks(frame.next);
      else
        frame.next.append(llvm::succ_begin(block), llvm::succ_end(block));
      stack.push_back(std::move(frame));
    };
    enter(start);
    while (!stack.empty()) {
      if (stack.back().next.empty()) {
        finished.push_back(stack.back().block);
        stack.pop_back();
      } else {
        enter(stack.back().next.pop_back_val());
      }
    }
  }

  const llvm::LoopInfo& loops_;
  std::vector<llvm::BasicBlock*> order_;
};

}  // namespace

std::vector<llvm::BasicBlock*> block_order(llvm::Function& function, const llvm::LoopInfo& loops) {
  Ordering ordering(loops);
  ordering.append(nullptr, &function.getEntryBlock());
  return ordering.take();
}

}  // namespace metalloid::bitcode
