#include "cpu/vector/unrolling.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <optional>

namespace metalloid::cpu::vector {

namespace {

// Of all iterations: of the code as it is, and of what it becomes if the source asks for it; and of all loops, if there
// are so many that they would take seconds to compile.
constexpr unsigned most_iterations = 64;
constexpr size_t most_instructions = 1200, most_if_asked_for = 3000, most_of_many = 1200;
constexpr size_t many = 60'000;

size_t length_of(const llvm::Loop& loop) {
  size_t length = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) length += block->size();
  return length;
}

// How many instructions of vector code an instruction becomes, about: of matrices, and of accesses to memory that may
// turn out to be gathers and scatters, it is many.
size_t size_of(const llvm::Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->getCalledFunction()) {
    llvm::StringRef name = call->getCalledFunction()->getName();
    if (name.consume_front("metal.simdgroup_") && name != "barrier") return name.starts_with("multiply") ? 40 : 20;
  }
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  return pointer && pointer->getType()->getPointerAddressSpace() != 0 ? 10 : 1;
}

size_t size_of(const llvm::BasicBlock& block) {
  size_t size = 0;
  for (const llvm::Instruction& instruction : block) size += size_of(instruction);
  return size;
}

// What the source says, if it does: `#pragma unroll`, with or without a number.
std::optional<bool> asked_for(const llvm::Loop& loop, unsigned iterations) {
  if (llvm::findOptionMDForLoop(&loop, "llvm.loop.unroll.disable")) return false;
  if (const auto count = llvm::getOptionalIntLoopAttribute(&loop, "llvm.loop.unroll.count"))
    return static_cast<unsigned>(*count) >= iterations;
  for (llvm::StringRef option : {"llvm.loop.unroll.full", "llvm.loop.unroll.enable"})
    if (llvm::findOptionMDForLoop(&loop, option)) return true;
  return std::nullopt;
}

void keep(llvm::Loop& loop) {
  llvm::LLVMContext& context = loop.getHeader()->getContext();
  auto* disable = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  loop.setLoopID(llvm::makePostTransformationMetadata(context, loop.getLoopID(), {"llvm.loop.unroll."}, {disable}));
}

class Unrolling {
 public:
  Unrolling(const llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution) : loops_(loops), evolution_(evolution) {}

  void decide() {
    size_t all = 0;
    for (llvm::Loop* loop : loops_) all += decide(*loop, most_if_asked_for, /*is_final=*/false);
    const size_t most = all > many ? most_of_many : most_if_asked_for;
    for (llvm::Loop* loop : loops_) decide(*loop, most, /*is_final=*/true);
  }

 private:
  // How many instructions the loop becomes.
  size_t decide(llvm::Loop& loop, size_t most_if_asked, bool is_final) {
    size_t iteration = 0;
    for (llvm::Loop* inner : loop) iteration += decide(*inner, most_if_asked, is_final);
    for (const llvm::BasicBlock* block : loop.blocks())
      if (loops_.getLoopFor(block) == &loop) iteration += size_of(*block);
    const unsigned iterations = evolution_.getSmallConstantTripCount(&loop);
    if (iterations == 0) return iteration;
    const size_t whole = iterations * iteration;
    const std::optional<bool> asked = asked_for(loop, iterations);
    if (asked ? *asked && whole <= most_if_asked
              : loop.isInnermost() && iterations <= most_iterations &&
                    iterations * length_of(loop) <= most_instructions) {
      if (!asked && is_final) llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
      return whole;
    }
    if (asked && is_final) keep(loop);
    return iteration;
  }

  const llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
};

}  // namespace

llvm::PreservedAnalyses RequestUnrolling::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  Unrolling(loops, analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)).decide();
  return llvm::PreservedAnalyses::all();
}

}  // namespace metalloid::cpu::vector
