// How many lanes the groups of a kernel have. More lanes share what is the same in all of them; fewer need fewer
// registers, and wait less for each other. Where lanes have little in common, as when all memory they read lies apart,
// threads are better run one after another. So what a thread costs is estimated for each width, from the code of one
// lane as it is widened.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cpu/small_strides.hpp"
#include "cpu/vector/costs.hpp"
#include "cpu/vector/frequencies.hpp"
#include "cpu/vector/shape_analysis.hpp"
#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

// What a kernel costs in cycles, roughly.
class Estimate {
 public:
  // `shapes` are those of the widest groups that are asked for; narrower ones are the first of them.
  Estimate(llvm::Function& lane_form, const llvm::LoopInfo& loops, llvm::DominatorTree& dominators,
           const ShapeAnalysis& shapes, const llvm::TargetMachine& machine, Strides strides = Strides::large);

  double of_thread(uint32_t width) const;

  // Of groups that a loop of the code runs one after the other (group_loop.hpp).
  double of_thread_in_loop(uint32_t width) const;

  // Whether lanes make an access one by one, which groups of more lanes do no better.
  bool has_lanes_apart() const { return has_lanes_apart_; }

  // Whether a thread is likely to come to one of these loops.
  bool is_likely_to_loop(const llvm::LoopInfo& loops) const;

  // Whether threadgroups wait at barriers.
  bool has_barriers() const { return has_barriers_; }

  // Whether LLVM vectorises loops of one thread, and lanes would make accesses one by one.
  bool has_loops_of_one() const { return has_lanes_apart_ && !vectorised_alone_.empty(); }

  // The part of a group's cycles that go into an instruction, or a block.
  double share(const llvm::Instruction& instruction, uint32_t width) const;
  double share(const llvm::BasicBlock& block, uint32_t width) const;

  // The part that is spent on lanes that have no business in a block.
  double waste(const llvm::BasicBlock& block, uint32_t width) const;

 private:
  using PerWidth = std::array<double, widths.size()>;

  static size_t place_of(uint32_t width);
  void add_instructions(const llvm::Function& function, const llvm::LoopInfo& loops,
                        const llvm::DominatorTree& dominators, llvm::ScalarEvolution& evolution);
  void wait_for_results(const llvm::LoopInfo& loops);
  void add_spills(const llvm::Function& function, const llvm::LoopInfo& loops);
  double longest_chain(const llvm::Loop& loop, bool alone) const;
  double times(const llvm::BasicBlock* block, uint32_t width) const;

  const ShapeAnalysis& shapes_;
  const Costs costs_;
  const Strides strides_;
  llvm::DenseMap<const llvm::BasicBlock*, PerWidth> blocks_;  // a group's cycles in a block, each time it runs
  llvm::SmallPtrSet<const llvm::Loop*, 4> vectorised_alone_;  // loops that LLVM vectorises in one thread
  std::optional<Frequencies> frequencies_;
  bool has_lanes_apart_ = false, has_barriers_;
  PerWidth total_{};  // of a group
};

struct WidthChoice {
  uint32_t width = lanes_of_simdgroup;
  std::string reason;                // "because ..." without the because
  std::vector<Stride> strides = {};  // if one of these is not small, one thread at a time is better all the same
};
constexpr std::string_view environment_says_so = "METALLOID_WIDTH says so";

// Among a SIMD-group and its parts, or, if its threads do things together that narrower groups cannot, the one that is
// left.
WidthChoice choose_width(const llvm::Function& lane_form, const Estimate& estimate);

// One SIMD-group in place of one thread at a time, where that is better as long as strides are small. `near` is the
// estimate for that case.
void prefer_lanes(WidthChoice& choice, const Estimate& near, std::vector<Stride> strides);

// Several SIMD-groups, if they are better than the one that was chosen. `wide` is the estimate with the shapes of the
// widest groups.
void prefer_wide(WidthChoice& choice, const Estimate& estimate, const Estimate& wide);

bool is_better_wide(uint32_t width, const Estimate& estimate, const Estimate& wide);

// Whether groups of one row are worth it, as estimated with shapes of their own, in place of blocks of several.
bool is_better_in_rows(uint32_t row, const Estimate& of_row, uint32_t block, const Estimate& of_block, bool has_loops);

// Whether a threadgroup is better one group of so many lanes than two of half as many that wait for each other.
bool is_worth_being_whole(uint32_t width, const Estimate& estimate);

// Of a short kernel: how many lanes store no more than a line of a cache at a time, next to each other. Memory serves
// several streams best in turns that short.
std::optional<uint32_t> find_lanes_of_streams(const llvm::Function& lane_form, const llvm::LoopInfo& loops,
                                              const ShapeAnalysis& shapes);

// Notes on a kernel's code what was found, and what was noted.
void note_lanes_of_streams(llvm::Function& code, uint32_t lanes);
std::optional<uint32_t> lanes_of_streams(const llvm::Function& code);

// What keeps several SIMD-groups from going together; empty: nothing. `shapes` are theirs.
std::string what_keeps_apart(const llvm::Function& lane_form, const ShapeAnalysis& shapes);

// The narrowest groups that can run the kernel: 32 with SIMD-group functions, 8 with functions of quads, else 1. The
// name of what needs it, if it is not 1.
struct LeastWidth {
  uint32_t width = 1;
  std::string because_of;
};
LeastWidth least_width(const llvm::Function& lane_form);

}  // namespace metalloid::cpu::vector
