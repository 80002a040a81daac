#include "cpu/vector/explanation.hpp"

#include <fmt/format.h>
#include <llvm/CodeGen/MachineBasicBlock.h>
#include <llvm/CodeGen/MachineOptimizationRemarkEmitter.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "cpu/vector/shape_analysis.hpp"
#include "cpu/vector/width.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr size_t most_notes = 20;
constexpr double least_share = 0.005;

std::string to_string(const SourcePlace& place) {
  if (place.file.empty()) return "(somewhere)";
  return place.column == 0 ? fmt::format("{}:{}", place.file, place.line)
                           : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

// As seen from a line of the same file.
std::string to_string(const SourcePlace& place, const SourcePlace& from) {
  return place.file == from.file && place.column != 0 ? fmt::format("{}:{}", place.line, place.column)
                                                      : to_string(place);
}

// What makes a number one that only its lane knows.
std::string origin_of(const llvm::Instruction& instruction, const SourcePlace& from) {
  const std::string at = to_string(place_of(instruction), from);
  if (llvm::isa<llvm::LoadInst>(instruction)) return fmt::format("read from memory at {}", at);
  if (llvm::isa<llvm::PHINode>(instruction)) return fmt::format("what lanes bring along different ways to {}", at);
  if (llvm::isa<llvm::SelectInst>(instruction)) return fmt::format("one thing or another at {}", at);
  if (instruction.isAtomic()) return fmt::format("given by the atomic operation at {}", at);
  if (llvm::isa<llvm::CallInst>(instruction)) return fmt::format("given by the call at {}", at);
  if (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction))
    return fmt::format("converted from a floating-point number at {}", at);
  switch (instruction.getOpcode()) {
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      return fmt::format("divided or shifted at {}", at);
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::And:
      return fmt::format("reduced by % or & at {}", at);
    case llvm::Instruction::Mul:
      return fmt::format("multiplied by another such number at {}", at);
    default:
      return fmt::format("computed at {}", at);
  }
}

// How the shape of an index comes to be wrong.
std::string_view failure_of(const llvm::Instruction& guard) {
  if (llvm::isa<llvm::MinMaxIntrinsic>(guard)) return "some are beyond the limit";
  if (guard.isIntDivRem()) return "they have different quotients";
  return "the 32-bit index wraps around that is extended";
}

// No file: it comes from no line, as the loop over a threadgroup's groups.
SourcePlace place_of_spills(const llvm::DiagnosticInfoOptimizationBase& remark) {
  const llvm::DiagnosticLocation& at = remark.getLocation();
  if (!at.isValid()) return {};
  const SourcePlace place{at.getRelativePath().str(), at.getLine(), at.getColumn()};
  if (is_in_standard_library(place))
    if (const auto* code = llvm::dyn_cast<llvm::DiagnosticInfoMIROptimization>(&remark))
      for (const llvm::MachineInstr& instruction : *code->getBlock())
        if (instruction.getDebugLoc()) return place_of(instruction.getDebugLoc());
  return place;
}

}  // namespace

void Explanation::choose(uint32_t width, std::string reason) {
  chosen_ = width;
  reason_ = std::move(reason);
}

void Explanation::start(const llvm::Function& lane_form, const llvm::LoopInfo& loops,
                        const llvm::DominatorTree& dominators, const ShapeAnalysis& shapes, const Estimate& estimate,
                        uint32_t width) {
  shapes_ = &shapes;
  estimate_ = &estimate;
  width_ = width;
  noted_.clear();
  notes_.clear();
  spills_.clear();
  kernel_place_ = place_of(lane_form);
  note_control_flow(lane_form, loops, dominators);
}

// A block that only some lanes need costs the others as much; the last branch that lanes disagreed on is to blame.
void Explanation::note_control_flow(const llvm::Function& lane_form, const llvm::LoopInfo& loops,
                                    const llvm::DominatorTree& dominators) {
  const auto loop_left_apart = [&](const llvm::BasicBlock* branch) -> const llvm::Loop* {
    const llvm::Loop* loop = loops.getLoopFor(branch);
    return loop && loop->isLoopExiting(branch) && shapes_->is_divergent_loop(loop) ? loop : nullptr;
  };
  const auto blame = [&](const llvm::BasicBlock* branch, double share) {
    if (const llvm::Loop* loop = loop_left_apart(branch)) {
      SourcePlace place = place_of(loop->getStartLoc());
      if (place.file.empty()) place = place_of(*loop->getHeader()->getTerminator());
      add(place, "loop: lanes leave it at different times, so it runs for as long as the last of them", share, 0);
    } else {
      add(place_of(*branch->getTerminator()), "branch: lanes disagree, so both sides run", share, 0);
    }
  };
  for (const llvm::BasicBlock& block : lane_form) {
    if (shapes_->is_divergent_branch(&block)) blame(&block, estimate_->share(*block.getTerminator(), width_));
    if (!shapes_->is_masked(&block)) continue;
    const llvm::BasicBlock* branch = loop_left_apart(&block) ? &block : nullptr;
    for (const auto* node = dominators.getNode(&block); node && !branch; node = node->getIDom())
      if (node->getBlock() != &block && shapes_->is_divergent_branch(node->getBlock())) branch = node->getBlock();
    if (branch) blame(branch, estimate_->waste(block, width_));
  }
}

void Explanation::note(const llvm::Instruction& instruction, Hindrance hindrance) {
  if (!noted_.insert(&instruction).second) return;
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
  const SourcePlace place = place_of(instruction);
  const auto reason = [&] { return why(*address, *llvm::getLoadStoreType(&instruction), place); };
  std::string what;
  switch (hindrance) {
    case Hindrance::restart:
      what = "branch: a group whose lanes disagree here starts again, with some switched off";
      break;
    case Hindrance::gather:
      what = "gather: lanes read one by one; " + reason();
      break;
    case Hindrance::scatter:
      what = "scatter: lanes write one by one; " + reason();
      break;
    case Hindrance::guarded_access: {
      what = "guard: lanes are accessed together unless ";
      if (const Shape::Guards guards = shapes_->shape(address).guards; !guards.empty())
        what += fmt::format("{} at {}", failure_of(*guards.front()), to_string(place_of(*guards.front()), place));
      else
        what += "the 32-bit index of a neighbour wraps around";
      break;
    }
    case Hindrance::masked_store:
      what = "masked store: only some lanes write";
      break;
    case Hindrance::atomic:
      what = "atomic: lanes one after another";
      break;
    case Hindrance::call: {
      const auto& call = llvm::cast<llvm::CallInst>(instruction);
      const llvm::Function* called = call.getCalledFunction();
      what = fmt::format("call: lanes one after another call {}",
                         called ? llvm::demangle(called->getName().str()) : "a function");
      break;
    }
    case Hindrance::lone_lane:
      what = "branch: one lane runs loops here, and the others wait";
      break;
    case Hindrance::division:
      what = "division: 64-bit integers are divided one by one";
      break;
    case Hindrance::barrier_in_loop:
      what = "barrier: in a loop, the SIMD-groups of a threadgroup wait for each other each time";
      break;
  }
  const bool is_always_said = hindrance == Hindrance::restart || hindrance == Hindrance::lone_lane;
  const double share = estimate_->share(instruction, width_);
  add(place, std::move(what), is_always_said ? std::max(share, least_share) : share);
}

// From an address that has no shape back to the first number that has none.
std::string Explanation::why(const llvm::Value& address, const llvm::Type& type, const SourcePlace& from) const {
  const Shape shape = shapes_->shape(&address);
  if (shape.is_known()) {
    if (shape.factor) return "they are as far apart as a number that is known only at run time";
    const int64_t step = shape.step(1);
    for (unsigned l = 2; l < shape.offsets.size(); ++l)
      if (shape.step(l) - shape.step(l - 1) != step) return "they lie in too many places";
    return fmt::format("they are {} bytes apart{}", step, type.isIntegerTy(1) ? ", and are bits" : "");
  }
  const auto* value = llvm::dyn_cast<llvm::Instruction>(&address);
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  while (value && seen.insert(value).second) {
    if (llvm::isa<llvm::LoadInst, llvm::CallInst, llvm::PHINode>(value) || value->isAtomic()) break;
    const auto* next = llvm::find_if(value->operands(), [&](const llvm::Use& operand) {
      return llvm::isa<llvm::Instruction>(operand) && !shapes_->is_known(operand);
    });
    if (next == value->op_end()) break;
    value = llvm::cast<llvm::Instruction>(*next);
  }
  return value ? "the index is " + origin_of(*value, from) : "the address has no order";
}

// The code for whole groups and that for others have the same loops: the worse of them counts.
void Explanation::note_spills(const llvm::DiagnosticInfoOptimizationBase& remark) {
  const auto number = [&](llvm::StringRef key) -> uint64_t {
    for (const auto& argument : remark.getArgs())
      if (argument.Key == key) return std::stoull(argument.Val);
    return 0;
  };
  const uint64_t writes = number("NumSpills"), reads = number("NumReloads") + number("NumFoldedReloads");
  if (writes == 0 && reads == 0) return;
  SourcePlace place = place_of_spills(remark);
  std::string_view when = "in each iteration of this loop";
  if (!llvm::StringRef(remark.getRemarkName()).starts_with("Loop")) {
    place = kernel_place_;
    when = "in the whole kernel";
  } else if (place.file.empty()) {
    place = kernel_place_;
    when = "for each group of threads";
  }
  Spills& spills = spills_[{place, when}];
  spills.writes = std::max(spills.writes, writes);
  spills.reads = std::max(spills.reads, reads);
}

void Explanation::add(const SourcePlace& place, std::string what, double share, unsigned count) {
  Note& note = notes_[{place, std::move(what)}];
  note.share += share;
  note.count += count;
}

std::string Explanation::text() const {
  const std::string how_many = chosen_ == each_thread_by_itself ? "each thread by itself, on the reference engine"
                               : chosen_ == 1                   ? "one thread at a time"
                                                                : fmt::format("{} threads at a time", chosen_);
  std::string text = fmt::format("{}: {}\n  because {}\n", kernel_, how_many, reason_);
  if (chosen_ == 1 && !notes_.empty()) text += fmt::format("  in {} lanes, most would be spent on\n", width_);

  std::vector<std::pair<const std::pair<SourcePlace, std::string>*, Note>> notes;
  size_t few = 0;
  for (const auto& [key, note] : notes_) {
    if (note.share < least_share)
      ++few;
    else
      notes.emplace_back(&key, note);
  }
  std::ranges::stable_sort(notes, [](const auto& a, const auto& b) { return a.second.share > b.second.share; });
  if (notes.size() > most_notes) {
    few += notes.size() - most_notes;
    notes.resize(most_notes);
  }
  size_t longest = 0;
  for (const auto& [key, note] : notes) longest = std::max(longest, to_string(key->first).size());
  if (chosen_ != 1)
    for (const auto& [key, spills] : spills_) longest = std::max(longest, to_string(key.first).size());
  for (const auto& [key, note] : notes)
    text += fmt::format("  {:3.0f} %  {:{}}  {}{}\n", note.share * 100, to_string(key->first), longest, key->second,
                        note.count > 1 ? fmt::format(" ({} times)", note.count) : "");
  if (chosen_ != 1)
    for (const auto& [key, spills] : spills_)
      text += fmt::format("         {:{}}  spills: {} registers are written to memory and {} read back {}\n",
                          to_string(key.first), longest, spills.writes, spills.reads, key.second);
  if (few > 0) text += fmt::format("         and {} more that matter less\n", few);
  if (notes_.empty() && spills_.empty() && chosen_ != 1) text += "  nothing is in its way\n";
  return text;
}

}  // namespace metalloid::cpu::vector
