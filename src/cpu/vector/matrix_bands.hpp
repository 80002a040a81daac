// Which sums of products of simdgroup matrices go together as rows of numbers (matrix_rows.hpp), and where that is
// worth it.
#pragma once

#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include <deque>
#include <map>
#include <vector>

#include "cpu/vector/matrix_sources.hpp"

namespace metalloid::cpu::vector {

// Sums that are side by side: what products give, or phis where control flow joins.
struct Band {
  std::vector<Matrix> sums;
  llvm::BasicBlock* block;
  llvm::Instruction* place;  // behind which they are there; null: phis

  bool is_phi() const { return !place; }
};

// Products that are made together: all have the same left factor, their right ones are side by side.
struct Step {
  const MatrixSource* left;
  std::vector<const MatrixSource*> right;
  std::vector<llvm::CallInst*> products;
  std::vector<Matrix> addends;
  llvm::CallInst* last;  // in the block: all of them can be made there
  Band* result = nullptr;
};

// Of one element of a matrix, or of both.
struct LaneUse {
  llvm::Use* use;
  std::optional<unsigned> element;

  // Where it is needed.
  llvm::BasicBlock* block() const;
};

class Bands {
 public:
  Bands(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes);

  // What is worth it; empty if nothing is.
  const std::vector<Step>& steps() const { return steps_; }
  std::vector<Band*> bands();

  // The band of these sums. Null: they are what lanes have.
  Band* find(llvm::ArrayRef<Matrix> sums) const;

  // Both elements of all lanes are one number.
  bool is_filled(const Matrix& matrix) const;

  // Who needs a matrix of a band in lanes.
  std::vector<LaneUse> uses_in_lanes(const Matrix& sum) const;

 private:
  void find_steps(llvm::BasicBlock& block);
  void add_step(llvm::ArrayRef<llvm::CallInst*> products);
  const MatrixSource* source_of(const Matrix& matrix);
  void find_bands();
  Band* band_of(llvm::ArrayRef<Matrix> sums);
  Band* add_band(Band band);
  bool is_worth_it(const Band& web);

  llvm::Function& function_;
  const llvm::LoopInfo& loops_;
  const ShapeAnalysis& shapes_;
  const unsigned most_;  // of a band

  std::map<Matrix, std::optional<MatrixSource>> sources_;
  std::vector<Step> steps_;
  std::deque<Band> bands_;
  std::map<Matrix, Band*> band_of_;
  std::map<const llvm::Value*, Band*> band_that_has_;  // a phi or a product
  llvm::EquivalenceClasses<const Band*> webs_;         // those that others are added to
};

// The matrices that phis bring from a block.
Matrix incoming(const Matrix& phis, const llvm::BasicBlock* from);

}  // namespace metalloid::cpu::vector
