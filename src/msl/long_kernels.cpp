#include "msl/long_kernels.hpp"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bitcode/analyses.hpp"
#include "bitcode/called_functions.hpp"

namespace metalloid::msl {

namespace {

// Instructions of a kernel as Clang writes them, all that is called included: more than `many` make it a long one, and
// of more than `too_many` it is not tried what is left once they were simplified and loops unrolled. If more than
// `most_left` are, functions of so many stay functions, or of so few that the kernel and all these functions have
// `enough` together.
constexpr uint64_t many = 250'000, too_many = 1'000'000, most_left = 120'000, enough = 24'000;
constexpr std::array<uint64_t, 4> long_functions = {20'000, 6'000, 2'000, 600};
constexpr uint64_t most_unrolled = 1'200, countless = uint64_t{1} << 40;

struct Called {
  llvm::Function* function;
  bool is_recursive;
};

std::vector<Called> innermost_first(llvm::Module& module) {
  std::vector<Called> order;
  llvm::CallGraph graph(module);
  for (auto cycle = llvm::scc_begin(&graph); !cycle.isAtEnd(); ++cycle)
    for (llvm::CallGraphNode* node : *cycle)
      if (llvm::Function* function = node->getFunction(); function && !function->isDeclaration())
        order.push_back({function, cycle.hasCycle()});
  return order;
}

class Passes {
 public:
  Passes() : analyses_(builder_) {
    simplify_.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    simplify_.addPass(llvm::EarlyCSEPass());
    // Reads that the source makes under a condition stay under it: shader validation sees who reads what.
    simplify_.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().speculateBlocks(false)));
  }

  void simplify(llvm::Function& function) {
    analyses_.functions.clear();  // of what was inlined since
    simplify_.run(function, analyses_.functions);
  }

  // With all iterations of loops that are likely to be unrolled.
  uint64_t instructions(llvm::Function& function) {
    const auto& loops = analyses_.functions.getResult<llvm::LoopAnalysis>(function);
    auto& evolution = analyses_.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    uint64_t instructions = 0;
    for (const llvm::Loop* loop : loops) instructions += instructions_of(*loop, loops, evolution);
    for (const llvm::BasicBlock& block : function)
      if (!loops.getLoopFor(&block)) instructions += block.size();
    return instructions;
  }

 private:
  static uint64_t instructions_of(const llvm::Loop& loop, const llvm::LoopInfo& loops,
                                  llvm::ScalarEvolution& evolution) {
    uint64_t iteration = 0;
    for (const llvm::Loop* inner : loop) iteration += instructions_of(*inner, loops, evolution);
    for (const llvm::BasicBlock* block : loop.blocks())
      if (loops.getLoopFor(block) == &loop) iteration += block->size();
    const uint64_t all = evolution.getSmallConstantTripCount(&loop) * iteration;
    return all <= most_unrolled ? std::max(all, iteration) : iteration;
  }

  llvm::PassBuilder builder_;
  bitcode::Analyses analyses_;
  llvm::FunctionPassManager simplify_;
};

// What other threads may have to come to, or wait for; and messages, which some devices can only take in kernels.
bool concerns_others(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call) return instruction.isAtomic() || instruction.isVolatile();
  const llvm::Function* called = call->getCalledFunction();
  if (!called) return true;
  return called->isDeclaration() && (call->isConvergent() || called->getName() == "metal.os_log");
}

// How much code there would be, and which functions would stay functions, if those of so many instructions did.
class Plan {
 public:
  using Lengths = llvm::DenseMap<const llvm::Function*, uint64_t>;  // without what is called

  Plan(const std::vector<Called>& functions, const Lengths& lengths, uint64_t long_function) {
    for (const auto& [function, is_recursive] : functions)
      measure(*function, is_recursive, lengths.lookup(function), long_function);
  }

  uint64_t instructions(const llvm::Function& entry) const { return sizes_.lookup(&entry).inlined + kept_; }
  bool keeps(const llvm::Function& function) const { return sizes_.lookup(&function).is_kept; }

 private:
  struct Size {
    uint64_t inlined = 0;
    bool is_kept = false, concerns_others = false;
  };

  void measure(const llvm::Function& function, bool is_recursive, uint64_t length, uint64_t long_function) {
    Size size{.inlined = length};
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      size.concerns_others |= msl::concerns_others(instruction);
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call || !call->getCalledFunction()) continue;
      const Size called = sizes_.lookup(call->getCalledFunction());
      size.concerns_others |= called.concerns_others;
      if (!called.is_kept) size.inlined = std::min(size.inlined + called.inlined, countless);
    }
    size.is_kept =
        !is_recursive && !size.concerns_others && size.inlined >= long_function && function.hasNUsesOrMore(2);
    if (size.is_kept) kept_ += size.inlined;
    sizes_[&function] = size;
  }

  llvm::DenseMap<const llvm::Function*, Size> sizes_;
  uint64_t kept_ = 0;
};

void inline_into(llvm::Function& function) {
  llvm::SmallVector<llvm::CallBase*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      llvm::Function* called = call->getCalledFunction();
      if (called && called != &function && called->hasFnAttribute(llvm::Attribute::AlwaysInline) &&
          !called->isDeclaration())
        calls.push_back(call);
    }
  for (llvm::CallBase* call : calls) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info, /*MergeAttributes=*/true, /*CalleeAAR=*/nullptr, /*InsertLifetime=*/false);
  }
}

void inline_all(const std::vector<Called>& functions, Passes& passes) {
  for (const auto& [function, is_recursive] : functions) {
    if (is_recursive) function->removeFnAttr(llvm::Attribute::AlwaysInline);
    inline_into(*function);
    passes.simplify(*function);
  }
}

// With everything inlined: of what is called with constants, little may be left.
uint64_t instructions_left(const llvm::Function& kernel) {
  const auto copy = llvm::CloneModule(*kernel.getParent());
  Passes passes;
  inline_all(innermost_first(*copy), passes);
  return passes.instructions(*copy->getFunction(kernel.getName()));
}

uint64_t instructions_with_calls(const std::vector<Called>& functions, const llvm::Function& kernel) {
  Plan::Lengths lengths;
  for (const auto& [function, is_recursive] : functions) lengths[function] = function->getInstructionCount();
  return Plan(functions, lengths, /*long_function=*/2 * countless).instructions(kernel);
}

void keep_long_functions(const std::vector<Called>& functions, const llvm::Function& kernel, Passes& passes) {
  Plan::Lengths lengths;
  for (const auto& [function, is_recursive] : functions) {
    passes.simplify(*function);
    lengths[function] = passes.instructions(*function);
  }
  const uint64_t least = Plan(functions, lengths, long_functions.back()).instructions(kernel);
  for (const uint64_t long_function : long_functions) {
    const Plan plan(functions, lengths, long_function);
    if (plan.instructions(kernel) > std::max(enough, least + least / 10)) continue;
    for (const auto& [function, is_recursive] : functions)
      if (plan.keeps(*function)) bitcode::mark_as_called(*function);
    return;
  }
}

}  // namespace

void inline_if_long(llvm::Function& kernel) {
  const std::vector<Called> functions = innermost_first(*kernel.getParent());
  const uint64_t instructions = instructions_with_calls(functions, kernel);
  if (instructions <= many) return;
  Passes passes;
  if (instructions > too_many || instructions_left(kernel) > most_left) keep_long_functions(functions, kernel, passes);
  inline_all(functions, passes);
}

}  // namespace metalloid::msl
