#include "cpu/vector/width.hpp"

#include <fmt/format.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>

#include "bitcode/address_spaces.hpp"
#include "cpu/vector/accesses.hpp"
#include "cpu/vector/all_lanes.hpp"
#include "cpu/vector/find_strides.hpp"
#include "cpu/vector/groups.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/lone_lanes.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr double start_of_group = 25, start_of_group_in_loop = 5, start_of_thread = 12;
// Of the cost of half the lanes, since waiting takes longer than it seems: on an Emerald Rapids a layer normalisation
// of 1.13 is faster by 13 of 100, a prefix sum of 1.17, which has more numbers than registers, slower by 15.
constexpr double worth_no_barriers = 1.15;
constexpr double worth_fewer_lanes = 0.85, worth_more_lanes = 0.75, worth_less_waiting = 0.9,
                 worth_one = 0.95;           // of the cost of the best so far; estimates are rough
constexpr double worth_loops_of_one = 1.25;  // rows may be longer than is guessed, and lanes the further apart for it
constexpr double instructions_in_flight = 250;  // a processor looks so far ahead, into the next thread if need be
constexpr unsigned most_chains = 32;
constexpr int64_t most_interleaved = 4;
constexpr double part_of_ideal = 0.8;  // how much of the ideal LLVM makes of a loop that it vectorises

bool is_vector(const llvm::Instruction& instruction, const ShapeAnalysis& shapes) {
  return !instruction.getType()->isVoidTy() && !shapes.is_known(&instruction);
}

// What is loaded from neighbouring places for one instruction behind it is that one's operand in memory.
bool is_in_registers(const llvm::Instruction& value, const ShapeAnalysis& shapes) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
  const bool is_operand = load && load->hasOneUse() && shapes.is_known(load->getPointerOperand()) &&
                          llvm::cast<llvm::Instruction>(load->user_back())->getParent() == load->getParent();
  return is_vector(value, shapes) && !is_operand;
}

// How many iterations of a loop LLVM can make at once when it compiles the code of one thread: accesses are to
// neighbours from one iteration to the next, or to all there are between them, and what is carried over are counters
// and sums, whose order does not matter.
double iterations_at_once(llvm::Loop& loop, llvm::ScalarEvolution& evolution, const llvm::DominatorTree& dominators,
                          const llvm::DataLayout& layout, double register_bits) {
  const bool is_straight = llvm::all_of(
      loop.blocks(), [&](const llvm::BasicBlock* block) { return block == loop.getHeader() || block->size() == 1; });
  if (!loop.isInnermost() || !is_straight || !evolution.hasLoopInvariantBackedgeTakenCount(&loop)) return 1;
  double bits = 8;
  for (llvm::PHINode& phi : loop.getHeader()->phis()) {
    llvm::InductionDescriptor induction;
    llvm::RecurrenceDescriptor reduction;
    if (!llvm::InductionDescriptor::isInductionPHI(&phi, &loop, &evolution, induction) &&
        (!llvm::RecurrenceDescriptor::isReductionPHI(&phi, &loop, reduction) || reduction.hasExactFPMath()))
      return 1;
    if (reduction.getRecurrenceKind() != llvm::RecurKind::None)
      bits = std::max(bits, static_cast<double>(layout.getTypeSizeInBits(phi.getType()).getFixedValue()));
  }
  llvm::PredicatedScalarEvolution predicated(evolution, loop);
  for (const llvm::Instruction& instruction : *loop.getHeader()) {
    if (instruction.isAtomic()) return 1;
    if (llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) return 1;
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer) continue;
    llvm::Type* type = llvm::getLoadStoreType(&instruction);
    bits = std::max(bits, static_cast<double>(layout.getTypeSizeInBits(type).getFixedValue()));
    auto* address = const_cast<llvm::Value*>(pointer);
    if (evolution.isLoopInvariant(evolution.getSCEV(address), &loop)) continue;
    const auto stride = llvm::getPtrStride(predicated, type, address, &loop, dominators,
                                           llvm::DenseMap<llvm::Value*, const llvm::SCEV*>(), /*Assume=*/true);
    if (!stride || std::abs(*stride) > most_interleaved) return 1;
    const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(type).getFixedValue());
    if (std::abs(*stride) > 1 && count_neighbours(instruction, std::abs(*stride) * bytes, layout) != std::abs(*stride))
      return 1;
  }
  return std::max(1.0, register_bits / bits * part_of_ideal);
}

// Such loops are along rows that are no longer than strides, or over a window: short, if strides are small.
bool has_strides(const llvm::Loop& loop, const ShapeAnalysis& shapes) {
  return llvm::any_of(loop.blocks(), [&](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [&](const llvm::Instruction& instruction) { return has_stride(instruction, shapes); });
  });
}

}  // namespace

Estimate::Estimate(llvm::Function& lane_form, const llvm::LoopInfo& loops, llvm::DominatorTree& dominators,
                   const ShapeAnalysis& shapes, const llvm::TargetMachine& machine, Strides strides)
    : shapes_(shapes),
      costs_(lane_form, shapes, loops, machine.getTargetTransformInfo(lane_form), strides),
      strides_(strides),
      has_barriers_(lane_form.getParent()->getFunction("metal.threadgroup_barrier")) {
  llvm::TargetLibraryInfoImpl functions(machine.getTargetTriple());
  llvm::TargetLibraryInfo library(functions);
  llvm::AssumptionCache assumptions(lane_form);
  llvm::ScalarEvolution evolution(lane_form, library, assumptions, dominators, const_cast<llvm::LoopInfo&>(loops));
  frequencies_.emplace(lane_form, loops, dominators, evolution, shapes);
  add_instructions(lane_form, loops, dominators, evolution);
  wait_for_results(loops);
  add_spills(lane_form, loops);
  for (size_t i = 0; i < widths.size(); ++i) {
    total_[i] = widths[i] == 1 ? start_of_thread : start_of_group;
    for (const auto& [block, costs] : blocks_) total_[i] += costs[i] * times(block, widths[i]);
  }
}

double Estimate::of_thread(uint32_t width) const {
  return total_[place_of(width)] / width;
}

double Estimate::of_thread_in_loop(uint32_t width) const {
  return of_thread(width) - (start_of_group - start_of_group_in_loop) / width;
}

bool Estimate::is_likely_to_loop(const llvm::LoopInfo& loops) const {
  return llvm::any_of(loops, [&](const llvm::Loop* loop) {
    return frequencies_->alone(loop->getHeader()) >= 0.5 * frequencies_->trips(loop);
  });
}

double Estimate::share(const llvm::Instruction& instruction, uint32_t width) const {
  return costs_.together(instruction, width) * times(instruction.getParent(), width) / total_[place_of(width)];
}

double Estimate::share(const llvm::BasicBlock& block, uint32_t width) const {
  return blocks_.lookup(&block)[place_of(width)] * times(&block, width) / total_[place_of(width)];
}

double Estimate::waste(const llvm::BasicBlock& block, uint32_t width) const {
  const double together = times(&block, width);
  return together <= 0 ? 0 : share(block, width) * std::max(0.0, 1 - frequencies_->alone(&block) / together);
}

size_t Estimate::place_of(uint32_t width) {
  return static_cast<size_t>(std::ranges::find(widths, width) - widths.begin());
}

double Estimate::times(const llvm::BasicBlock* block, uint32_t width) const {
  return width == 1 ? frequencies_->alone(block) : frequencies_->together(block, width);
}

void Estimate::add_instructions(const llvm::Function& function, const llvm::LoopInfo& loops,
                                const llvm::DominatorTree& dominators, llvm::ScalarEvolution& evolution) {
  for (const llvm::BasicBlock& block : function) {
    PerWidth& costs = blocks_[&block];
    costs.fill(0);
    for (const llvm::Instruction& instruction : block) {
      for (size_t i = 0; i < widths.size(); ++i) costs[i] += costs_.together(instruction, widths[i]);
      has_lanes_apart_ |= llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction) &&
                          costs_.together(instruction, lanes_of_simdgroup) >= lanes_of_simdgroup;
    }
    llvm::Loop* loop = loops.getLoopFor(&block);
    if (!loop || (strides_ == Strides::small && has_strides(*loop, shapes_))) continue;
    const double at_once =
        iterations_at_once(*loop, evolution, dominators, function.getDataLayout(), costs_.bits_of_register());
    if (at_once > 1) vectorised_alone_.insert(loop);
    costs.back() /= at_once;
  }
}

// An iteration takes at least as long as what it hands to the next one. While a thread alone waits, the processor goes
// on with the next thread if it can see it from there.
void Estimate::wait_for_results(const llvm::LoopInfo& loops) {
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost()) continue;
    double instructions = 0;
    for (const llvm::BasicBlock* block : loop->blocks()) instructions += static_cast<double>(block->size());
    const double chains[2] = {longest_chain(*loop, /*alone=*/false), longest_chain(*loop, /*alone=*/true)};
    for (size_t i = 0; i < widths.size(); ++i) {
      const bool alone = widths[i] == 1;
      const llvm::BasicBlock* header = loop->getHeader();
      const double iterations = times(header, widths[i]);
      if (iterations <= 0) continue;
      double spent = 0;
      for (const llvm::BasicBlock* block : loop->blocks()) spent += blocks_[block][i] * times(block, widths[i]);
      const double in_flight = std::max(1.0, instructions_in_flight / (instructions * frequencies_->trips(loop)));
      double waited = chains[alone] / std::min(in_flight, 2.0) - spent / iterations;
      if (alone && vectorised_alone_.contains(loop)) waited = 0;  // several sums at once
      if (waited > 0) blocks_[header][i] += waited;
    }
  }
}

// From a value of one iteration to the same of the next, by operations that wait for each other. Lanes that stay where
// others leave are told by a mask, which is one more thing to wait for.
double Estimate::longest_chain(const llvm::Loop& loop, bool alone) const {
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  if (!latch) return 0;
  double longest = 0;
  unsigned count = 0;
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    if (++count > most_chains) break;
    llvm::DenseMap<const llvm::Value*, double> ready;
    ready[&phi] = 0;
    for (const llvm::BasicBlock* block : loop.blocks())  // in the order of the control flow
      for (const llvm::Instruction& instruction : *block) {
        double latest = -1;
        for (const llvm::Value* operand : instruction.operands())
          if (auto found = ready.find(operand); found != ready.end()) latest = std::max(latest, found->second);
        if (latest < 0 || &instruction == &phi || llvm::isa<llvm::BranchInst>(instruction)) continue;
        ready[&instruction] = latest + costs_.latency(instruction, alone);
      }
    const auto end = ready.find(phi.getIncomingValueForBlock(latch));
    if (end == ready.end()) continue;
    const bool is_blended = !alone && shapes_.is_divergent_loop(&loop) && !shapes_.is_known(&phi);
    longest = std::max(longest, end->second + (is_blended ? 1 : 0));
  }
  return longest;
}

// Registers that a block needs at once and does not have. What is alive in a loop but not used there waits in memory
// all the while, for nothing.
void Estimate::add_spills(const llvm::Function& function, const llvm::LoopInfo& loops) {
  llvm::DenseMap<const llvm::BasicBlock*, llvm::SmallVector<const llvm::Instruction*, 8>> live_at_end;
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallPtrSet<const llvm::Loop*, 4>> used_in;
  for (const llvm::Instruction& value : llvm::instructions(function)) {
    if (!is_in_registers(value, shapes_)) continue;
    auto& around = used_in[&value];
    const auto add_loops = [&](const llvm::BasicBlock* block) {
      for (const llvm::Loop* loop = loops.getLoopFor(block); loop; loop = loop->getParentLoop()) around.insert(loop);
    };
    add_loops(value.getParent());
    llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen;
    llvm::SmallVector<const llvm::BasicBlock*, 8> left;
    const auto needed_at_end = [&](const llvm::BasicBlock* block) {
      if (!seen.insert(block).second) return;
      live_at_end[block].push_back(&value);
      if (block != value.getParent()) left.push_back(block);
    };
    for (const llvm::Use& use : value.uses()) {
      const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      add_loops(user->getParent());
      if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
        needed_at_end(phi->getIncomingBlock(use));
      else if (user->getParent() != value.getParent())
        for (const llvm::BasicBlock* before : llvm::predecessors(user->getParent())) needed_at_end(before);
    }
    while (!left.empty())
      for (const llvm::BasicBlock* before : llvm::predecessors(left.pop_back_val())) needed_at_end(before);
  }

  const double available = costs_.register_count() - 2;
  for (const llvm::BasicBlock& block : function) {
    const llvm::Loop* loop = loops.getLoopFor(&block);
    llvm::SmallPtrSet<const llvm::Instruction*, 16> live;
    PerWidth now{}, most{}, touched{};
    const auto count = [&](const llvm::Instruction* value, PerWidth& registers, double sign) {
      for (size_t i = 0; i + 1 < widths.size(); ++i)
        registers[i] += sign * costs_.registers(value->getType(), widths[i]);
    };
    for (const llvm::Instruction* value : live_at_end[&block])
      if ((!loop || used_in[value].contains(loop)) && live.insert(value).second) count(value, now, 1);
    most = now;
    for (const llvm::Instruction& instruction : llvm::reverse(block)) {
      if (live.erase(&instruction)) count(&instruction, now, -1);
      if (llvm::isa<llvm::PHINode>(instruction)) continue;
      for (const llvm::Value* operand : instruction.operands()) {
        const auto* value = llvm::dyn_cast<llvm::Instruction>(operand);
        if (!value || !is_in_registers(*value, shapes_)) continue;
        count(value, touched, 1);
        if (live.insert(value).second) count(value, now, 1);
      }
      for (size_t i = 0; i < widths.size(); ++i) most[i] = std::max(most[i], now[i]);
    }
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      const double missing = std::clamp(most[i] - available, 0.0, touched[i]);
      blocks_[&block][i] += missing * costs_.spill();
    }
  }
}

namespace {

constexpr llvm::StringLiteral streams_attribute = "metalloid-lanes-of-streams";

}  // namespace

std::optional<uint32_t> find_lanes_of_streams(const llvm::Function& lane_form, const llvm::LoopInfo& loops,
                                              const ShapeAnalysis& shapes) {
  constexpr int64_t line = 64;
  if (!loops.empty()) return std::nullopt;
  int64_t smallest = line;
  for (const llvm::Instruction& instruction : llvm::instructions(lane_form)) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || store->getPointerAddressSpace() != bitcode::device_address_space) continue;
    const Shape shape = shapes.shape(store->getPointerOperand());
    const auto bytes = static_cast<int64_t>(
        lane_form.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue());
    if (shape.is_known() && stride_of(shape) == bytes) smallest = std::min(smallest, bytes);
  }
  const auto lanes = static_cast<uint32_t>(line / smallest);
  if (lanes < std::max(8u, least_width(lane_form).width) || lanes >= lanes_of_simdgroup) return std::nullopt;
  return lanes;
}

void note_lanes_of_streams(llvm::Function& code, uint32_t lanes) {
  code.addFnAttr(streams_attribute, std::to_string(lanes));
}

std::optional<uint32_t> lanes_of_streams(const llvm::Function& code) {
  uint32_t lanes = 0;
  if (code.getFnAttribute(streams_attribute).getValueAsString().getAsInteger(10, lanes)) return std::nullopt;
  return lanes;
}

LeastWidth least_width(const llvm::Function& lane_form) {
  LeastWidth least;
  for (const llvm::Instruction& instruction : llvm::instructions(lane_form)) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || !call->getCalledFunction()) continue;
    const llvm::StringRef name = call->getCalledFunction()->getName();
    if (!is_group_function(name) && name != "metal.simdgroup_barrier") continue;
    const uint32_t width = works_in_quads(name) ? 8 : 32;
    if (width > least.width) least = {width, name.str()};
  }
  return least;
}

namespace {

std::string to_text(double cycles) {
  return cycles < 100 ? fmt::format("{:.2g}", cycles) : fmt::format("{:.0f}", cycles);
}

}  // namespace

WidthChoice choose_width(const llvm::Function& lane_form, const Estimate& estimate) {
  const LeastWidth least = least_width(lane_form);
  WidthChoice choice;
  if (least.width == choice.width) {
    choice.reason = fmt::format("it calls {}", least.because_of);
    return choice;
  }
  std::string all;
  for (uint32_t width : widths) {
    if (width < least.width || width > lanes_of_simdgroup) continue;
    const double cost = estimate.of_thread(width);
    all += all.empty() ? "" : ", ";
    all += to_text(cost);
    all += width == 1 ? " alone" : fmt::format(" in {} lanes", width);
    const double of_one = estimate.has_loops_of_one() ? worth_loops_of_one : worth_one;
    if (cost < estimate.of_thread(choice.width) * (width == 1 ? of_one : worth_fewer_lanes)) choice.width = width;
  }
  choice.reason = fmt::format("the estimated cycles of a thread are {}", all);
  return choice;
}

void prefer_lanes(WidthChoice& choice, const Estimate& near, std::vector<Stride> strides) {
  if (near.of_thread(lanes_of_simdgroup) >= near.of_thread(1) * worth_fewer_lanes) return;
  choice = {lanes_of_simdgroup,
            fmt::format("the estimated cycles of a thread are {} in 32 lanes, {} alone, if strides that are arguments "
                        "are small; if not, one thread at a time",
                        to_text(near.of_thread(lanes_of_simdgroup)), to_text(near.of_thread(1))),
            std::move(strides)};
}

// More lanes are more code, too.
bool is_better_wide(uint32_t width, const Estimate& estimate, const Estimate& wide) {
  const double worth = estimate.has_barriers() ? worth_less_waiting : worth_more_lanes;
  return wide.of_thread(width) < estimate.of_thread(lanes_of_simdgroup) * worth;
}

// Loops over groups are for rows, of kernels that have no loops themselves.
bool is_better_in_rows(uint32_t row, const Estimate& of_row, uint32_t block, const Estimate& of_block, bool has_loops) {
  return (has_loops ? of_row.of_thread(row) : of_row.of_thread_in_loop(row)) < of_block.of_thread(block);
}

bool is_worth_being_whole(uint32_t width, const Estimate& estimate) {
  return estimate.of_thread(width) < estimate.of_thread(width / 2) * worth_no_barriers;
}

void prefer_wide(WidthChoice& choice, const Estimate& estimate, const Estimate& wide) {
  for (uint32_t width : widths) {
    if (width <= lanes_of_simdgroup || width > widest_choice || !is_better_wide(width, estimate, wide)) continue;
    const bool is_first = choice.width == lanes_of_simdgroup;
    if (is_first || wide.of_thread(width) < wide.of_thread(choice.width)) choice.width = width;
  }
  if (choice.width > lanes_of_simdgroup)
    choice.reason = fmt::format("the estimated cycles of a thread are {} if {} SIMD-groups go together, and {} if not",
                                to_text(wide.of_thread(choice.width)), choice.width / lanes_of_simdgroup,
                                to_text(estimate.of_thread(lanes_of_simdgroup)));
}

std::string what_keeps_apart(const llvm::Function& lane_form, const ShapeAnalysis& shapes) {
  if (!has_mask_registers(lane_form)) return "the processor has too few registers";
  for (const llvm::Instruction& instruction : llvm::instructions(lane_form)) {
    if (llvm::isa<llvm::AllocaInst>(instruction)) return "it has private arrays";
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || llvm::isa<llvm::IntrinsicInst>(call)) continue;
    const llvm::StringRef name = call->getCalledFunction() ? call->getCalledFunction()->getName() : "a pointer";
    if (name == "metal.threadgroup_barrier") {
      if (shapes.is_masked(call->getParent())) return "SIMD-groups may arrive at different barriers";
    } else if (call->getCalledFunction() && is_lone_lane(*call->getCalledFunction())) {
      continue;
    } else if (name != lane_function && name != all_lanes_function && name != "metal.simdgroup_barrier" &&
               (!is_group_function(name) || is_matrix_function(name))) {
      return fmt::format("it calls {}", name.str());
    }
  }
  return {};
}

}  // namespace metalloid::cpu::vector
