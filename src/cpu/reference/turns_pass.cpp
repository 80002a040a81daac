#include "cpu/reference/turns_pass.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "cpu/lower/thread_values.hpp"
#include "cpu/thread_state.hpp"

namespace metalloid::cpu::reference {

namespace {

using Functions = llvm::SmallPtrSet<const llvm::Function*, 8>;

bool reads_what_others_write(const llvm::Instruction& instruction, const Functions& reading) {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    const llvm::Function* called = call->getCalledFunction();
    return called && reading.contains(called);
  }
  return instruction.mayReadFromMemory() && (instruction.isAtomic() || instruction.isVolatile());
}

Functions reading_functions(const llvm::Module& module) {
  Functions reading;
  for (bool grew = true; grew;) {
    grew = false;
    for (const llvm::Function& function : module)
      for (const llvm::Instruction& instruction : llvm::instructions(function))
        if (reads_what_others_write(instruction, reading)) grew |= reading.insert(&function).second;
  }
  return reading;
}

bool counts(const llvm::Loop& loop) {
  for (const llvm::PHINode& phi : loop.getHeader()->phis())
    for (const llvm::Value* incoming : phi.incoming_values())
      if (const auto* step = llvm::dyn_cast<llvm::BinaryOperator>(incoming))
        if (loop.contains(step) && llvm::is_contained(step->operands(), &phi)) return true;
  return false;
}

void insert_turn(llvm::Instruction& back_edge, bool counting) {
  llvm::Function& function = *back_edge.getFunction();
  llvm::Value* thread = lower::thread_state(function);
  llvm::IRBuilder<> builder(&back_edge);
  llvm::Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), thread, offsetof(ThreadState, patience));
  llvm::Value* left = builder.CreateSub(builder.CreateLoad(builder.getInt32Ty(), place), builder.getInt32(1));
  builder.CreateStore(left, place);
  llvm::Instruction* then =
      llvm::SplitBlockAndInsertIfThen(builder.CreateIsNull(left), back_edge.getIterator(), /*Unreachable=*/false);
  builder.SetInsertPoint(then);
  llvm::FunctionCallee give_turn =
      function.getParent()->getOrInsertFunction("metalloid.give_turn", builder.getVoidTy(), builder.getInt32Ty());
  builder.CreateCall(give_turn, {builder.getInt32(counting)});
}

}  // namespace

void insert_turns(llvm::Module& module) {
  const Functions reading = reading_functions(module);
  for (const llvm::Function* read : reading) {
    auto& function = const_cast<llvm::Function&>(*read);
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    llvm::SmallSetVector<llvm::Loop*, 4> waiting;
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (reads_what_others_write(instruction, reading))
        if (llvm::Loop* loop = loops.getLoopFor(instruction.getParent())) waiting.insert(loop);

    llvm::SmallVector<std::pair<llvm::Instruction*, bool>> back_edges;
    for (const llvm::Loop* loop : waiting) {
      llvm::SmallVector<llvm::BasicBlock*> latches;
      loop->getLoopLatches(latches);
      for (llvm::BasicBlock* latch : latches) back_edges.emplace_back(latch->getTerminator(), counts(*loop));
    }
    for (auto [back_edge, counting] : back_edges) insert_turn(*back_edge, counting);
  }
}

}  // namespace metalloid::cpu::reference
