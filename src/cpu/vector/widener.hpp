// Makes the code of one lane into the code of all lanes of a group.
//
// Values. What has a shape is computed once, for lane 0; what has none is a vector with an element for each lane, or
// several, one for each scalar of its type. Values that live longer than their block go through slots, which become
// registers at the end: no block depends on how another was widened.
//
// Control flow. A branch that all lanes take together stays a branch. One that they disagree on becomes a straight
// line: both sides run, one after the other in the order of bitcode/block_order.hpp, each with the mask of the lanes
// that are there; a block that no lane reached is skipped. A loop runs until its last lane has left, and those that
// left early wait behind it.
//
// Files: widener.cpp has values, slots and control flow; widen_instructions.cpp, widen_loads.cpp, widen_gathers.cpp,
// widen_stores.cpp, widen_segments.cpp, widen_copies.cpp and widen_calls.cpp what one instruction becomes,
// widen_accesses.cpp what loads and stores share, guards.cpp what shapes rest on.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <functional>
#include <string>
#include <vector>

#include "cpu/vector/accesses.hpp"
#include "cpu/vector/atomics.hpp"
#include "cpu/vector/emission.hpp"
#include "cpu/vector/explanation.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/segments.hpp"
#include "cpu/vector/shape_analysis.hpp"
#include "cpu/vector/tables.hpp"
#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

class Widener {
 public:
  // `agreements`: blocks whose branch is taken together, or the group starts again as a partial one.
  Widener(llvm::Function& lane_form, const ShapeAnalysis& shapes, const llvm::LoopInfo& loops, const Variant& variant,
          const llvm::SmallPtrSetImpl<const llvm::BasicBlock*>& agreements, Explanation* explanation = nullptr);

  // The new function, beside the old one. Null: `problem` says what cannot be widened.
  llvm::Function* widen(std::string& problem);

 private:
  using Blocks = llvm::SmallSetVector<llvm::BasicBlock*, 8>;

  // Control flow.
  void make_slots();
  void widen_block(llvm::BasicBlock* block);
  void expect_nobody_yet(const llvm::DominatorTree& dominators);
  void load_mask(llvm::BasicBlock* block);
  void skip_if_empty(llvm::BasicBlock* block);
  bool may_run_empty(const llvm::BasicBlock* block) const;
  void leave(llvm::BasicBlock* block);
  void leave_together(llvm::BasicBlock* block, llvm::Value* condition);
  void leave_apart(llvm::BasicBlock* block);
  void agree_or_restart(llvm::BasicBlock* block);
  void start_again();
  void follow_edge(llvm::BasicBlock* from, llvm::BasicBlock* to, llvm::Value* lanes);
  llvm::BasicBlock* next_of(llvm::BasicBlock* block, llvm::ArrayRef<llvm::BasicBlock*> targets);
  llvm::BasicBlock* back_edge(llvm::BasicBlock* block) const;
  bool waits_for_others(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const;

  // Values.
  llvm::Value* scalar(llvm::Value* value);      // of lane 0
  const Components& lanes(llvm::Value* value);  // of all
  llvm::Value* vector(llvm::Value* value) { return lanes(value)[0]; }
  Operand operand(llvm::Value* value);
  llvm::Value* spread(llvm::Value* value, const Shape& shape);
  void define(const llvm::Instruction& instruction, Components components);
  void define(const llvm::Instruction& instruction, llvm::Value* value) { define(instruction, Components{value}); }
  void define_scalar(const llvm::Instruction& instruction, llvm::Value* value);
  void forget_since(size_t mark);
  llvm::Value* load_slot(llvm::AllocaInst* slot);
  llvm::AllocaInst* make_slot(llvm::Type* type);

  // Instructions.
  void widen_instruction(llvm::Instruction& instruction);
  std::optional<Places> places_in_array(llvm::Value* pointer);
  void clone_scalar(llvm::Instruction& instruction);
  Components widened(llvm::Instruction& instruction);
  Components poison_of(llvm::Type* type) const;
  llvm::Value* widened_binary(llvm::BinaryOperator& operation);
  llvm::Value* widened_division(llvm::Instruction::BinaryOps operation, llvm::Value* a, llvm::Value* b);
  llvm::Value* widened_cast(llvm::CastInst& cast);
  Components widened_bits(llvm::BitCastInst& cast);
  llvm::Value* widened_address(llvm::GetElementPtrInst& address);
  Components widened_intrinsic(llvm::IntrinsicInst& intrinsic);
  llvm::Value* widened_half_fma(llvm::IntrinsicInst& fma);
  llvm::Value* in_float(llvm::Value* value);
  llvm::Value* from_float(llvm::Value* value, llvm::Type* scalar);

  // Memory.
  void widen_load(llvm::LoadInst& load);
  llvm::Value* looked_up(llvm::LoadInst& load, const TableLoad& from);
  void widen_prefetch(llvm::CallInst& prefetch);
  void widen_store(llvm::StoreInst& store);
  void load_with_neighbours(llvm::LoadInst& load, const Shape& shape);
  struct CopyUnderWay {
    llvm::StoreInst* store;                                          // one of those that end it
    int64_t distance;                                                // bytes from where that stores to the lowest
    llvm::SmallVector<std::pair<unsigned, llvm::Value*>, 0> pieces;  // and their first lanes
  };
  unsigned scalars_of_register(const Access& access) const;
  std::optional<Segments> segments_for(const Shape& shape, const Access& access, const Neighbours& neighbours) const;
  std::optional<Segments> segments_to_store(const Shape& shape, const Access& access,
                                            const Neighbours& neighbours) const;
  Components load_segments(llvm::LoadInst& load, const Segments& segments);
  void store_segments(const Neighbours& neighbours, const Segments& segments);
  llvm::Value* selected(llvm::ArrayRef<llvm::Value*> from, llvm::ArrayRef<int> places, unsigned at_a_time);
  llvm::Value* selected(llvm::ArrayRef<llvm::Value*> from, llvm::ArrayRef<int> places);
  bool start_copy(llvm::LoadInst& load, const Shape& from);
  void finish_copy(const CopyUnderWay& copy);
  bool can_gather_words(llvm::LoadInst& load, const Neighbours& neighbours) const;
  Components gather_words(llvm::LoadInst& load, const Neighbours& neighbours);
  llvm::Value* load_runs(llvm::LoadInst& load, const Shape& shape);
  llvm::Value* load_windows(llvm::LoadInst& load, const Shape& shape, llvm::ArrayRef<Window> windows);
  Components load_rows(llvm::LoadInst& load, const Neighbours& neighbours, const Shape& shape, const Rows& rows);
  Components load_row(llvm::LoadInst& load, const Neighbours& neighbours, const Rows& rows, llvm::Value* address,
                      llvm::Value* mask);
  bool loads_beat_gathers();
  bool may_scatter_in_place();
  bool may_be_consecutive(const llvm::Value* pointer) const;
  bool is_one_address(const llvm::LoadInst& load) const;
  struct Sequence {
    llvm::Value* are_consecutive;
    llvm::Value* first;  // the address of lane 0
  };
  Sequence sequence_of(llvm::Value* pointer, int64_t bytes);
  void store_apart_or_together(llvm::StoreInst& store);
  void store_one(llvm::StoreInst& store);
  void store_runs(llvm::StoreInst& store, const Shape& shape);
  void store_windows(llvm::StoreInst& store, const Shape& shape, llvm::ArrayRef<Window> windows);
  void store_together(const Neighbours& neighbours);
  Neighbours neighbours_of(llvm::StoreInst& store, int64_t distance, bool by_index) const;
  void store_with(const Neighbours& neighbours);
  llvm::SmallVector<llvm::Value*> stored_at_places(const Neighbours& neighbours);
  bool are_pieces(const Neighbours& neighbours, const Access& access) const;
  void store_pieces(const Neighbours& neighbours);
  void store_rows(const Neighbours& neighbours, const Rows& rows);
  void store_row(llvm::SmallVector<llvm::Value*> parts, const Access& access, llvm::Value* address, llvm::Value* mask);
  void stream(llvm::Value* value, llvm::Value* address, llvm::Align alignment);
  Components by_shape_or_apart(const Shape& shape, bool masks_are_cheap, const std::function<Components()>& by_shape,
                               const std::function<Components()>& apart, const Neighbours* neighbours = nullptr,
                               llvm::Value* condition = nullptr);
  void by_shape_or_scattered(const Shape& shape, bool masks_are_cheap, llvm::ArrayRef<llvm::StoreInst*> stores,
                             const std::function<void()>& by_shape, const Neighbours* neighbours = nullptr,
                             llvm::Value* condition = nullptr);
  Components gather(llvm::LoadInst& load, const Neighbours& neighbours);
  bool can_load_chunks(llvm::LoadInst& load, const Neighbours& neighbours);
  // Of each lane, so many bytes from where it loads.
  using AddressesAt = std::function<llvm::SmallVector<llvm::Value*>(int64_t offset)>;
  Components load_chunks(llvm::LoadInst& load, const Neighbours& neighbours, const AddressesAt& addresses_at);
  // Of all lanes, those from `first` on.
  llvm::Value* part_of(llvm::Value* vector, unsigned first, unsigned count);
  llvm::Value* concatenated(llvm::SmallVector<llvm::Value*> parts);
  Components gather(llvm::LoadInst& load, llvm::Value* pointers);
  llvm::Value* load_each(llvm::Type* scalar, const Access& access, llvm::Value* addresses);
  llvm::Value* gather_scalars(const llvm::LoadInst& load, llvm::Type* scalar, const Access& access,
                              llvm::Value* addresses);
  Components gather(llvm::LoadInst& load) { return gather(load, vector(load.getPointerOperand())); }
  void scatter(llvm::StoreInst& store);
  llvm::SmallVector<llvm::Value*> addresses_of_lanes(llvm::Value* pointer, int64_t offset);
  Shape::Guards guards_of(const Shape& shape, const Neighbours* neighbours) const;
  bool are_expected(const Shape::Guards& guards) const;
  llvm::Value* guards_hold(const Shape::Guards& guards, const Neighbours* neighbours);
  llvm::Value* guard_holds(const llvm::Instruction& guard, int64_t lowest, int64_t highest);
  llvm::Value* what_wraps_around(const Neighbours& neighbours, int64_t index);
  llvm::Value* factor_of(const Shape& shape);
  llvm::Value* are_side_by_side(const Shape& shape);
  llvm::Value* lane_address(llvm::Value* first, const Shape& shape, unsigned lane);
  llvm::Value* behind(llvm::Value* address, int64_t bytes) {
    return bytes == 0 ? address : builder_.CreatePtrAdd(address, builder_.getInt64(static_cast<uint64_t>(bytes)));
  }
  llvm::Value* safe_pointers(llvm::Value* pointers);
  void mark_places_of(llvm::Value* pointer);

  // Calls.
  void widen_call(llvm::CallInst& call);
  void widen_products(llvm::CallInst& first);
  void widen_row_function(llvm::CallInst& call);
  Components call_in_simdgroups(const llvm::Function& called, llvm::ArrayRef<Operand> operands);
  void access_texture(llvm::CallInst& call);
  void call_lane_by_lane(llvm::CallInst& call);
  llvm::Value* holds_in_all_lanes(llvm::Value* condition);
  llvm::Value* holds_in_first_or_last(llvm::ICmpInst& comparison);

  // Common.
  Emission emission() { return {builder_, width_, mask_}; }
  llvm::FixedVectorType* vector_of(llvm::Type* scalar) const { return llvm::FixedVectorType::get(scalar, width_); }
  llvm::Value* splat(llvm::Value* value) { return builder_.CreateVectorSplat(width_, value); }
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* all(llvm::Value* mask);
  llvm::Value* mask() { return emission().mask(); }
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  // One of two ways; what they give comes together.
  Components choose(llvm::Value* condition, const std::function<Components()>& likely,
                    const std::function<Components()>& unlikely);
  void give_up(const llvm::Instruction& instruction);
  void note(const llvm::Instruction& instruction, Hindrance hindrance) {
    if (explanation_ && !is_unlikely_) explanation_->note(instruction, hindrance);
  }

  llvm::Function& old_;
  const ShapeAnalysis& shapes_;
  const llvm::LoopInfo& loops_;
  const llvm::DataLayout& layout_;
  llvm::LLVMContext& context_;
  const Variant variant_;
  const unsigned width_;
  const llvm::SmallPtrSetImpl<const llvm::BasicBlock*>& agreements_;
  Explanation* const explanation_;  // null: nobody wants one
  bool has_slow_gathers_ = false;
  bool gathers_words_well_ = false;  // all the same, from addresses that are in a vector anyway
  unsigned gathers_in_full_ = 0, scatters_in_place_ = 0;
  bool has_mask_registers_ = false;  // of the processor: masked accesses are as cheap as others
  bool has_masked_words_ = false;    // of the processor: so are those of 32 bits and more, if they are side by side

  llvm::Function* new_ = nullptr;
  llvm::IRBuilder<> builder_;
  llvm::BasicBlock* entry_ = nullptr;
  std::vector<llvm::BasicBlock*> order_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> place_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, Blocks> deferred_;  // what is still to be visited after a block
  llvm::DenseMap<const llvm::Value*, llvm::SmallVector<llvm::AllocaInst*, 2>> slots_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> mask_slots_;
  std::vector<llvm::AllocaInst*> promoted_;
  llvm::Value* lanes_there_ = nullptr;  // of a partial group; null: all
  llvm::Value* nowhere_ = nullptr;      // memory that lanes which are off may access

  // Of the block being widened.
  llvm::Value* mask_ = nullptr;  // null: all lanes
  bool is_unlikely_ = false;     // code that need not be fast
  llvm::DenseMap<const llvm::Value*, llvm::Value*> scalars_;
  llvm::DenseMap<const llvm::Value*, Components> lanes_;
  llvm::DenseMap<const llvm::Instruction*, Components> loaded_before_;  // with a neighbour
  llvm::DenseMap<const llvm::Instruction*, Neighbours> stored_later_;
  llvm::DenseMap<const llvm::Instruction*, CopyUnderWay> copies_;  // by the last store
  llvm::SmallPtrSet<const llvm::Instruction*, 32> copied_;         // what they consist of
  struct Remembered {
    const llvm::Value* value;
    bool is_scalar;
  };
  std::vector<Remembered> remembered_;  // what the two were asked for, in order

  std::string problem_;
};

// The scalars that a type consists of.
llvm::SmallVector<llvm::Type*, 2> scalars_of(llvm::Type* type);

}  // namespace metalloid::cpu::vector
