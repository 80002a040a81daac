#include "cpu/vector/vectorise.hpp"

#include <fmt/format.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <optional>

#include "bitcode/analyses.hpp"
#include "bitcode/private_arrays.hpp"
#include "cpu/lower/thread_values.hpp"
#include "cpu/optimise.hpp"
#include "cpu/vector/atomics.hpp"
#include "cpu/vector/early_extensions.hpp"
#include "cpu/vector/explanation.hpp"
#include "cpu/vector/fetch_tiles.hpp"
#include "cpu/vector/find_strides.hpp"
#include "cpu/vector/flatten_branches.hpp"
#include "cpu/vector/group_loop.hpp"
#include "cpu/vector/inline_calls.hpp"
#include "cpu/vector/join_products.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/loads_first.hpp"
#include "cpu/vector/lone_lanes.hpp"
#include "cpu/vector/matrix_rows.hpp"
#include "cpu/vector/passes.hpp"
#include "cpu/vector/restarts.hpp"
#include "cpu/vector/shape_analysis.hpp"
#include "cpu/vector/skip_branches.hpp"
#include "cpu/vector/split_divisions.hpp"
#include "cpu/vector/split_loops.hpp"
#include "cpu/vector/unrolling.hpp"
#include "cpu/vector/waiting.hpp"
#include "cpu/vector/widener.hpp"
#include "cpu/vector/width.hpp"

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
    "request-unrolling,loop(loop-deletion,loop-unroll-full),"
    "sroa<modify-cfg>,gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,sccp,bdce,"
    "instcombine<no-verify-fixpoint>,dse,adce,loop-mssa(licm<allowspeculation>),"
    "simplifycfg<no-sink-common-insts;no-hoist-common-insts>";
constexpr llvm::StringLiteral simplify_again =
    "request-unrolling,loop(loop-deletion,loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,"
    "simplifycfg<no-sink-common-insts;no-hoist-common-insts>,instcombine<no-verify-fixpoint>,"
    "gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,dse,adce";
constexpr llvm::StringLiteral tidy = "instcombine<no-verify-fixpoint>,early-cse,dce";

// What the widener expects: branches of two ways, one return, loops with one entry, one latch and exits of their own,
// and values that leave a loop by phis.
constexpr llvm::StringLiteral normalise = "scalarizer,lower-switch,mergereturn,fix-irreducible";
constexpr llvm::StringLiteral normalise_loops = "loop-simplify,break-crit-edges,loop-simplify,lcssa,dce";

// Not instcombine, which would bring back arithmetic of half.
constexpr llvm::StringLiteral clean_up =
    "instsimplify,early-cse<memssa>,simplifycfg<no-sink-common-insts;no-hoist-common-insts>,"
    "loop-mssa(licm<allowspeculation>),gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,sccp,dse,adce,"
    "simplifycfg<no-sink-common-insts;no-hoist-common-insts>,early-cse,div-rem-pairs";

// Of code that is not to be widened.
constexpr llvm::StringLiteral vectorise_loops =
    "loop(loop-rotate),loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,slp-vectorizer,vector-combine,"
    "loop-unroll<O2>,instcombine<no-verify-fixpoint>,simplifycfg";

constexpr llvm::StringLiteral without_effects = "early-cse,adce,simplifycfg";

class Passes {
 public:
  explicit Passes(llvm::TargetMachine& machine) : builder_(&machine), analyses_(builder_) {
    builder_.registerPipelineParsingCallback([](llvm::StringRef name, llvm::FunctionPassManager& passes, auto) {
      if (name != "request-unrolling") return false;
      passes.addPass(RequestUnrolling());
      return true;
    });
  }

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

  // Code that is not to be widened.
  void simplify_as_ever(llvm::Function& function) {
    builder_.buildFunctionSimplificationPipeline(llvm::OptimizationLevel::O2, llvm::ThinOrFullLTOPhase::None)
        .run(function, analyses_.functions);
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
    return Error{"internal error: the code to be vectorised, or that was, is not valid: " + problem};
  return success();
}

// What is known about lane form before it is widened.
struct Analysis {
  Analysis(llvm::Function& entry, const Variant& variant)
      : dominators(entry),
        post_dominators(entry),
        loops(dominators),
        shapes(entry, loops, post_dominators, variant.width) {
    while (!variant.is_partial) {
      const auto found = find_restarts(entry, shapes);
      if (found.empty()) break;
      restarts.insert(found.front());
      shapes.assume_agreement(found.front());
    }
    while (extend_early(entry, shapes)) shapes.analyse_again();
  }

  llvm::DominatorTree dominators;
  llvm::PostDominatorTree post_dominators;
  llvm::LoopInfo loops;
  ShapeAnalysis shapes;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 4> restarts;
};

// Whether lanes make accesses together only while they have the same quotient. The more lanes, the rarer that is, so
// several SIMD-groups had better not go together.
bool has_accesses_by_quotients(const llvm::Function& entry, const ShapeAnalysis& shapes) {
  return llvm::any_of(llvm::instructions(entry), [&](const llvm::Instruction& instruction) {
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    return pointer && llvm::any_of(shapes.shape(pointer).guards,
                                   [](const llvm::Instruction* guard) { return guard->isIntDivRem(); });
  });
}

// Whether several SIMD-groups of a kernel should go together: where it loops, they walk through memory side by side,
// wait for fewer results, and share what is the same in all of them; and fewer groups wait at barriers, which counts
// where lanes do not make accesses one by one. Where it does neither, groups run in a loop of their own
// (group_loop.hpp), which is as good.
void consider_wide_groups(llvm::Function& entry, Analysis& analysis, const llvm::TargetMachine& machine,
                          const Estimate& estimate, WidthChoice& choice) {
  constexpr unsigned most_instructions = 800, most_without_barriers = 160;
  if (!estimate.is_likely_to_loop(analysis.loops) && (!estimate.has_barriers() || estimate.has_lanes_apart())) return;
  if (entry.getInstructionCount() > (estimate.has_barriers() ? most_instructions : most_without_barriers)) return;
  ShapeAnalysis shapes(entry, analysis.loops, analysis.post_dominators, widest_choice);
  for (const llvm::BasicBlock* block : analysis.restarts) shapes.assume_agreement(block);
  if (!what_keeps_apart(entry, shapes).empty()) return;
  const Estimate wide(entry, analysis.loops, analysis.dominators, shapes, machine);
  prefer_wide(choice, estimate, wide);
}

// Whether the lanes of blocks are better fewer: what all lanes of a row agree on, those of several may not, and
// addresses may have a shape in a row only.
bool are_better_apart(llvm::Function& entry, Analysis& analysis, const llvm::TargetMachine& machine,
                      const Estimate& together, const Variant& blocks) {
  const bool is_wide = blocks.width > lanes_of_simdgroup;
  const uint32_t fewer = is_wide ? lanes_of_simdgroup : uint32_t{1} << blocks.log2_x;
  if (fewer < least_width(entry).width) return false;
  ShapeAnalysis shapes(entry, analysis.loops, analysis.post_dominators, fewer);
  for (const llvm::BasicBlock* block : analysis.restarts) shapes.assume_agreement(block);
  if (is_wide) {
    const Estimate apart(entry, analysis.loops, analysis.dominators, shapes, machine);
    return !is_better_wide(blocks.width, apart, together);
  }
  const auto estimate = [&](const ShapeAnalysis& of_lanes) {
    return Estimate(entry, analysis.loops, analysis.dominators, of_lanes, machine, Strides::small);
  };
  return is_better_in_rows(fewer, estimate(shapes), blocks.width, estimate(analysis.shapes), !analysis.loops.empty());
}

// Whether lanes are better after all, unless a dispatch says that they are far apart.
void consider_strides(llvm::Function& entry, Analysis& analysis, const llvm::TargetMachine& machine,
                      WidthChoice& choice) {
  std::vector<Stride> strides = find_strides(entry, analysis.shapes);
  if (strides.empty()) return;
  const Estimate near(entry, analysis.loops, analysis.dominators, analysis.shapes, machine, Strides::small);
  prefer_lanes(choice, near, std::move(strides));
}

// A group that is its threadgroup waits for nobody.
void make_barriers_of_simdgroups(llvm::Module& module) {
  if (llvm::Function* barrier = module.getFunction("metal.threadgroup_barrier"))
    barrier->replaceAllUsesWith(
        module.getOrInsertFunction("metal.simdgroup_barrier", barrier->getFunctionType()).getCallee());
}

// Null: another width is the better choice.
Result<llvm::Function*> widen(llvm::Function& entry, const Variant& variant, Passes& passes,
                              const llvm::TargetMachine& machine, WidthChoice* choice, Explanation* explanation) {
  auto analysis = std::make_unique<Analysis>(entry, variant);
  bool has_split_divisions = false;
  if (!variant.is_partial) {
    const auto start_over = [&]() -> Status {
      passes.forget();
      passes.run(entry, "mergereturn");
      passes.run(entry, normalise_loops);
      if (auto valid = verify(entry); !valid) return valid;
      analysis = std::make_unique<Analysis>(entry, variant);
      return success();
    };
    if (flatten_branches(entry, analysis->loops, analysis->shapes))
      if (auto valid = start_over(); !valid) return Error{valid.error()};
    if (loads_first(entry, analysis->shapes)) {
      passes.forget();
      passes.run(entry, "early-cse");  // no store is between two loads of one place any more
      if (auto valid = start_over(); !valid) return Error{valid.error()};
    }
    if (variant.width == lanes_of_simdgroup && sum_in_rows(entry, analysis->loops, analysis->shapes))
      if (auto valid = start_over(); !valid) return Error{valid.error()};
    has_split_divisions = split_divisions(entry, analysis->loops, analysis->shapes, variant.width);
    if (has_split_divisions)
      if (auto valid = start_over(); !valid) return Error{valid.error()};
    const bool has_split = split_loops(entry, analysis->loops, analysis->shapes);
    if (skip_branches(entry, analysis->loops, analysis->shapes) || has_split)
      if (auto valid = start_over(); !valid) return Error{valid.error()};
  }
  auto& [dominators, post_dominators, loops, shapes, restarts] = *analysis;
  std::optional<Estimate> estimate;
  if (choice || explanation) estimate.emplace(entry, loops, dominators, shapes, machine);
  const bool is_wide = variant.width > lanes_of_simdgroup;
  if (choice && is_wide) {
    if (const std::string reason = what_keeps_apart(entry, shapes); !reason.empty())
      *choice = {lanes_of_simdgroup, reason};
    else if (variant.is_whole && !is_worth_being_whole(variant.width, *estimate))
      *choice = {variant.width / 2, "registers would be too few"};
    else if (variant.if_cheaper && !variant.is_whole && are_better_apart(entry, *analysis, machine, *estimate, variant))
      *choice = {lanes_of_simdgroup, "they would disagree too often"};
  } else if (choice && variant.if_cheaper) {
    if (are_better_apart(entry, *analysis, machine, *estimate, variant))
      *choice = {uint32_t{1} << variant.log2_x, "lanes of a row have more in common"};
  } else if (choice) {
    *choice = choose_width(entry, *estimate);
    const bool share_quotients = has_split_divisions || has_accesses_by_quotients(entry, shapes);
    if (choice->width == lanes_of_simdgroup && !share_quotients)
      consider_wide_groups(entry, *analysis, machine, *estimate, *choice);
    if (choice->width == 1 && !estimate->has_barriers()) consider_strides(entry, *analysis, machine, *choice);
  }
  if ((choice || is_first(variant)) && find_waiting(loops, dominators, shapes)) {
    if (!choice)
      return Error{
          fmt::format("its threads may wait for one another, and would for ever if {} ran together; let "
                      "METALLOID_WIDTH be 1, or unset",
                      variant.width)};
    const uint32_t apart = least_width(entry).width == 1 ? 1 : each_thread_by_itself;
    *choice = {is_wide ? lanes_of_simdgroup : apart, "its threads may wait for one another"};
  }
  if (explanation) {
    if (choice) explanation->choose(choice->width, choice->reason);
    explanation->start(entry, loops, dominators, shapes, *estimate, variant.width);
  }
  const bool is_explained_here = explanation && choice && choice->width == 1;
  if (choice && choice->width != variant.width && !is_explained_here) return nullptr;
  if (variant.is_whole) make_barriers_of_simdgroups(*entry.getParent());
  make_threadgroup_accesses_plain(entry);
  std::string problem;
  Widener widener(entry, shapes, loops, variant, restarts, explanation);
  llvm::Function* widened = widener.widen(problem);
  if (!widened) return Error{problem};
  if (const auto lanes = find_lanes_of_streams(entry, loops, shapes)) note_lanes_of_streams(*widened, *lanes);
  return widened;
}

}  // namespace

Status vectorise(llvm::Module& module, const Variant& variant, llvm::TargetMachine& machine, WidthChoice* choice,
                 Explanation* explanation) {
  llvm::Function* entry = module.getFunction(lower::entry_name);
  if (explanation)
    llvm::stripNonLineTableDebugInfo(module);
  else
    llvm::StripDebugInfo(module);
  inline_calls(module);
  if (const LeastWidth least = least_width(*entry); variant.width < least.width)
    return Error{fmt::format("the kernel calls {}, which needs {} threads of a SIMD-group run together, not {}",
                             least.because_of, least.width, variant.width)};
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
  if (move_lone_lanes(*entry, variant.width)) passes.forget();
  for (llvm::Function& function : module)  // that lanes call one by one
    if (!function.isDeclaration() && &function != entry && !function.getName().starts_with("metal.")) {
      passes.simplify_as_ever(function);
      passes.run_pass(function, bitcode::GuardPrivateArrays());
      passes.run(function, vectorise_loops);
    }
  passes.run_pass(*entry, LowerBfloat());
  passes.run_pass(*entry, SpreadPrivateArrays(variant.width));
  passes.run(*entry, tidy);
  passes.run_pass(*entry, InsertTurns());
  end_at_unreachable(*entry);
  add_what_is_disjoint(*entry);
  passes.run(*entry, normalise);
  passes.run(*entry, normalise_loops);
  join_products(*entry);
  fetch_tiles(*entry);
  auto widened = widen(*entry, variant, passes, machine, choice, explanation);
  if (!widened) return Error{widened.error()};
  if (!*widened) return success();
  if (auto valid = verify(**widened); !valid) return Error{valid.error()};
  passes.forget();
  (*widened)->takeName(entry);
  entry->eraseFromParent();
  const auto simplify = [&](llvm::Function& function) { passes.run(function, without_effects); };
  for (llvm::Function* code : loop_over_groups(**widened, variant, simplify)) {
    passes.run(*code, clean_up);
    passes.run_pass(*code, StoreFewLanes());
    passes.run_pass(*code, WidenMasks());
    passes.run_pass(*code, OrderAccesses());
  }
  return success();
}

}  // namespace metalloid::cpu::vector
