#include "cpu/vector/vectorise.hpp"

#include <fmt/format.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Local.h>

#include "bitcode/analyses.hpp"
#include "cpu/lower/thread_values.hpp"
#include "cpu/optimise.hpp"
#include "cpu/vector/atomics.hpp"
#include "cpu/vector/groups.hpp"
#include "cpu/vector/inline_calls.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/passes.hpp"
#include "cpu/vector/restarts.hpp"
#include "cpu/vector/shape_analysis.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

// Scalar optimisation as at -O2, but for what takes shapes apart: common instructions of two branches are not merged,
// nor are values made available on one path only (PRE), and induction variables keep their width.
constexpr llvm::StringLiteral simplify =
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg<no-sink-common-insts;no-hoist-common-insts>,"
    "instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<allowspeculation>,loop-rotate<header-duplication>,"
    "licm<allowspeculation>),"
    "simplifycfg<no-sink-common-insts;no-hoist-common-insts>,instcombine<no-verify-fixpoint>,"
    "loop(loop-deletion,loop-unroll-full),"
    "sroa<modify-cfg>,gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,sccp,bdce,"
    "instcombine<no-verify-fixpoint>,dse,adce,loop-mssa(licm<allowspeculation>),"
    "simplifycfg<no-sink-common-insts;no-hoist-common-insts>";
constexpr llvm::StringLiteral simplify_again =
    "loop(loop-deletion,loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,"
    "simplifycfg<no-sink-common-insts;no-hoist-common-insts>,instcombine<no-verify-fixpoint>,"
    "gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,dse,adce";
constexpr llvm::StringLiteral tidy = "instcombine<no-verify-fixpoint>,early-cse,dce";

// What the widener expects: branches of two ways, one return, loops with one entry, one latch and exits of their own,
// and values that leave a loop by phis.
constexpr llvm::StringLiteral normalise =
    "scalarizer,lower-switch,mergereturn,fix-irreducible,loop-simplify,break-crit-edges,loop-simplify,lcssa,dce";

// Not instcombine, which would bring back arithmetic of half.
constexpr llvm::StringLiteral clean_up =
    "instsimplify,early-cse<memssa>,simplifycfg<no-sink-common-insts;no-hoist-common-insts>,"
    "loop-mssa(licm<allowspeculation>),gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,sccp,dse,adce,"
    "simplifycfg<no-sink-common-insts;no-hoist-common-insts>,early-cse,div-rem-pairs";

class Passes {
 public:
  explicit Passes(llvm::TargetMachine& machine) : builder_(&machine), analyses_(builder_) {}

  void run(llvm::Function& function, llvm::StringRef names) {
    llvm::FunctionPassManager passes;
    llvm::cantFail(builder_.parsePassPipeline(passes, names));
    passes.run(function, analyses_.functions);
  }

  template <class Pass>
  void run_pass(llvm::Function& function, Pass pass) {
    llvm::FunctionPassManager passes;
    passes.addPass(std::move(pass));
    passes.run(function, analyses_.functions);
  }

  void forget() { analyses_.functions.clear(); }

 private:
  llvm::PassBuilder builder_;
  bitcode::Analyses analyses_;
};

// Code that LLVM takes to be never reached may be, by no lane: it ends there.
void end_at_unreachable(llvm::Function& function) {
  for (llvm::BasicBlock& block : function)
    if (auto* end = llvm::dyn_cast<llvm::UnreachableInst>(block.getTerminator())) {
      llvm::ReturnInst::Create(function.getContext(), nullptr, end->getIterator());
      end->eraseFromParent();
    }
}

const llvm::CallInst* find_group_call(llvm::Function& function, unsigned width) {
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (const llvm::Function* called = call->getCalledFunction(); called && is_group_function(called->getName()))
        if (width == 1 || !works_in_quads(called->getName())) return call;
  return nullptr;
}

// One thread at a time.
void make_scalar(llvm::Function& entry) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(entry))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || !call->getCalledFunction()) continue;
    const llvm::StringRef name = call->getCalledFunction()->getName();
    if (name == lane_function) {
      call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), 0));
    } else if (name == "metal.threadgroup_barrier") {
      llvm::IRBuilder<> builder(call);
      builder.CreateCall(
          entry.getParent()->getOrInsertFunction(barrier_function, builder.getVoidTy(), builder.getPtrTy()),
          {entry.getArg(0)});
    } else if (name != "metal.simdgroup_barrier") {
      continue;
    }
    call->eraseFromParent();
  }
}

Status verify(const llvm::Function& function) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyFunction(function, &stream))
    return Error{"internal error: the vectorised code is not valid: " + problem};
  return success();
}

Result<llvm::Function*> widen(llvm::Function& entry, const Variant& variant) {
  const llvm::DominatorTree dominators(entry);
  const llvm::PostDominatorTree post_dominators(entry);
  const llvm::LoopInfo loops(dominators);
  ShapeAnalysis shapes(entry, loops, post_dominators, variant.width);
  llvm::SmallPtrSet<const llvm::BasicBlock*, 4> restarts;
  while (!variant.is_partial) {
    const auto found = find_restarts(entry, shapes);
    if (found.empty()) break;
    restarts.insert(found.front());
    shapes.assume_agreement(found.front());
  }
  std::string problem;
  Widener widener(entry, shapes, loops, variant, restarts);
  llvm::Function* widened = widener.widen(problem);
  if (!widened) return Error{problem};
  return widened;
}

}  // namespace

Status vectorise(llvm::Module& module, const Variant& variant, llvm::TargetMachine& machine) {
  llvm::Function* entry = module.getFunction(lower::entry_name);
  llvm::StripDebugInfo(module);
  inline_calls(module);
  if (variant.width < 32)
    if (const llvm::CallInst* call = find_group_call(*entry, variant.width))
      return Error{fmt::format("the kernel calls '{}', which needs SIMD-groups of 32 threads run together, not {}",
                               call->getCalledFunction()->getName().str(), variant.width)};
  Passes passes(machine);
  passes.run(*entry, simplify);
  passes.run_pass(*entry, ExpandMemoryIntrinsics());
  passes.run(*entry, simplify_again);
  if (variant.width == 1) {
    passes.run_pass(*entry, InsertTurns());
    make_scalar(*entry);
    optimise(module, machine);
    return success();
  }
  passes.run_pass(*entry, LowerBfloat());
  passes.run_pass(*entry, SpreadPrivateArrays(variant.width));
  passes.run(*entry, tidy);
  passes.run_pass(*entry, InsertTurns());
  make_threadgroup_accesses_plain(*entry);
  end_at_unreachable(*entry);
  passes.run(*entry, normalise);
  if (getenv("VX_DUMP")) entry->print(llvm::errs());  // XXX
  auto widened = widen(*entry, variant);
  if (!widened) return Error{widened.error()};
  if (auto valid = verify(**widened); !valid) return Error{valid.error()};
  passes.forget();
  (*widened)->takeName(entry);
  entry->eraseFromParent();
  if (getenv("VX_DUMP")) (*widened)->print(llvm::errs());  // XXX
  passes.run(**widened, clean_up);
  if (getenv("VX_DUMP")) (*widened)->print(llvm::errs());  // XXX
  return success();
}

}  // namespace metalloid::cpu::vector
