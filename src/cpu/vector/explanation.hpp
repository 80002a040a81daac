// What was decided about a kernel and what keeps it from being faster, by source line, for METALLOID_EXPLAIN. The
// vectoriser notes what it does at length; how much that matters is what the estimate of the kernel's cost says.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cpu/source_place.hpp"

namespace metalloid::cpu::vector {

class Estimate;
class ShapeAnalysis;

enum class Hindrance : uint8_t {
  restart,  // if lanes disagree, the group starts again as a partial one
  gather,
  scatter,
  guarded_access,  // by shape if no index wraps around, else one by one
  masked_store,
  atomic,
  call,
  lone_lane,  // runs loops
  division,
  barrier_in_loop,
};

class Explanation {
 public:
  explicit Explanation(std::string kernel) : kernel_(std::move(kernel)) {}

  // How many lanes it is compiled for: "because" of this.
  void choose(uint32_t width, std::string reason);

  // Notes are about this function until the next call. It, and all that is known about it, need not outlive them.
  void start(const llvm::Function& lane_form, const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators,
             const ShapeAnalysis& shapes, const Estimate& estimate, uint32_t width);

  // The first note on an instruction counts.
  void note(const llvm::Instruction& instruction, Hindrance hindrance);

  // What LLVM has to say about the registers it ran out of.
  void note_spills(const llvm::DiagnosticInfoOptimizationBase& remark);

  // For people: the most important first.
  std::string text() const;

 private:
  struct Note {
    double share = 0;  // of the kernel's time
    unsigned count = 0;
  };

  struct Spills {
    uint64_t writes = 0, reads = 0;
  };

  void note_control_flow(const llvm::Function& lane_form, const llvm::LoopInfo& loops,
                         const llvm::DominatorTree& dominators);
  void add(const SourcePlace& place, std::string what, double share, unsigned count = 1);
  // Why lanes are accessed one by one.
  std::string why(const llvm::Value& address, const llvm::Type& type, const SourcePlace& from) const;

  const std::string kernel_;
  uint32_t chosen_ = 32;
  std::string reason_;
  const ShapeAnalysis* shapes_ = nullptr;
  const Estimate* estimate_ = nullptr;
  uint32_t width_ = 32;
  llvm::SmallPtrSet<const llvm::Instruction*, 16> noted_;
  std::map<std::pair<SourcePlace, std::string>, Note> notes_;
  SourcePlace kernel_place_;
  std::map<std::pair<SourcePlace, std::string_view>, Spills> spills_;  // and when they happen
};

}  // namespace metalloid::cpu::vector
