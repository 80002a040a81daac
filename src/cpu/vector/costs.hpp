// What instructions of lane form cost on a processor, roughly in cycles of a core that is kept busy: for a thread
// alone, and for a group of lanes together. Not the processor's data sheet, but near enough to tell widths apart: see
// the measurements in docs/cpu.md.
#pragma once

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Function.h>

#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

// How far apart lanes are thought to be where a number that is known at run time only keeps them apart
// (find_strides.hpp).
enum class Strides : uint8_t { large, small };

class Costs {
 public:
  Costs(const llvm::Function& function, const ShapeAnalysis& shapes, const llvm::LoopInfo& loops,
        const llvm::TargetTransformInfo& target, Strides strides);

  double alone(const llvm::Instruction& instruction) const;
  double together(const llvm::Instruction& instruction, unsigned width) const;

  // Cycles until what it gives can be used.
  double latency(const llvm::Instruction& instruction, bool alone) const;

  // Vector registers that a value of this type takes in so many lanes, and how many there are.
  double registers(llvm::Type* type, unsigned width) const;
  unsigned register_count() const { return register_count_; }
  double bits_of_register() const { return register_bits_; }

  // A vector register that goes to memory and comes back, as often as not while somebody waits for it.
  double spill() const { return vector_step_ + 1.8; }

 private:
  double arithmetic(const llvm::Instruction& instruction, unsigned width) const;
  double division(llvm::Type* type, unsigned width) const;
  double access(const llvm::Instruction& instruction, const llvm::Value* pointer, llvm::Type* type, bool is_store,
                unsigned width) const;
  double atomic(const llvm::Instruction& instruction, unsigned width) const;
  double call(const llvm::CallInst& call, unsigned width) const;
  double branch(const llvm::Instruction& branch, unsigned width) const;

  const ShapeAnalysis& shapes_;
  const llvm::LoopInfo& loops_;
  const llvm::DataLayout& layout_;
  const Strides strides_;
  double register_bits_;
  unsigned register_count_;
  double vector_step_;  // an operation on a vector register
  double gathered_lane_, scattered_lane_;
  bool has_mask_registers_;
};

}  // namespace metalloid::cpu::vector
