#include "nvidia/lower/grid_values.hpp"

#include <fmt/format.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "nvidia/compile.hpp"

namespace metalloid::nvidia::lower {

namespace {

constexpr const char* axes[] = {"x", "y", "z"};

}  // namespace

GridValues::GridValues(llvm::IRBuilder<>& builder, llvm::Value* size, LaneOrder order, bool is_even)
    : builder_(builder) {
  grid_ = load_size(size, offsetof(LaunchSize, threads_per_grid));
  full_threads_ = load_size(size, offsetof(LaunchSize, threads_per_threadgroup));
  threadgroups_ = load_size(size, offsetof(LaunchSize, threadgroups_per_grid));
  position_ = registers("tid");
  index_ = find_index(order);
  if (is_even) {
    threadgroup_ = registers("ctaid");
    threads_ = full_threads_;
  } else {
    threadgroup_ = find_threadgroup(load_flag(size, offsetof(LaunchSize, is_row)));
    for (unsigned i = 0; i < 3; ++i) {
      llvm::Value* left = builder_.CreateSub(grid_[i], builder_.CreateMul(threadgroup_[i], full_threads_[i]));
      threads_[i] = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, full_threads_[i], left);
    }
    leave_if_beyond(load_flag(size, offsetof(LaunchSize, is_row_of_threads)));
  }
  if (order == LaneOrder::matrix) position_ = position_of(index_, threads_);
}

llvm::Value* GridValues::find_index(LaneOrder order) {
  llvm::Value* layer = builder_.CreateAdd(builder_.CreateMul(position_[2], full_threads_[1]), position_[1]);
  llvm::Value* physical = builder_.CreateAdd(builder_.CreateMul(layer, full_threads_[0]), position_[0]);
  if (order == LaneOrder::hardware) return physical;
  return builder_.CreateOr(builder_.CreateAnd(physical, ~31u),
                           logical_lane(builder_, order, builder_.CreateAnd(physical, 31)));
}

GridValues::Size GridValues::registers(const char* name) {
  Size size;
  for (unsigned i = 0; i < 3; ++i) size[i] = special_register(fmt::format("{}.{}", name, axes[i]));
  return size;
}

GridValues::Size GridValues::load_size(llvm::Value* launch, size_t offset) {
  Size size;
  for (unsigned i = 0; i < 3; ++i)
    size[i] = builder_.CreateLoad(
        builder_.getInt32Ty(),
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), launch, offset + i * sizeof(uint32_t)));
  return size;
}

llvm::Value* GridValues::load_flag(llvm::Value* launch, size_t offset) {
  return builder_.CreateIsNotNull(builder_.CreateLoad(
      builder_.getInt32Ty(), builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), launch, offset)));
}

llvm::Value* GridValues::special_register(llvm::StringRef name) const {
  llvm::Module& module = *builder_.GetInsertBlock()->getModule();
  return builder_.CreateCall(
      module.getOrInsertFunction(("llvm.nvvm.read.ptx.sreg." + name).str(), builder_.getInt32Ty()));
}

GridValues::Size GridValues::position_of(llvm::Value* number, const Size& size) {
  llvm::Value* row = builder_.CreateUDiv(number, size[0]);
  return {builder_.CreateURem(number, size[0]), builder_.CreateURem(row, size[1]), builder_.CreateUDiv(row, size[1])};
}

GridValues::Size GridValues::find_threadgroup(llvm::Value* is_row) {
  Size position = registers("ctaid");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::Function* entry = before->getParent();
  auto *row = llvm::BasicBlock::Create(builder_.getContext(), "row", entry),
       *after = llvm::BasicBlock::Create(builder_.getContext(), "", entry);
  builder_.CreateCondBr(is_row, row, after);
  builder_.SetInsertPoint(row);
  const Size in_row = position_of(position[0], threadgroups_);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  for (unsigned i = 0; i < 3; ++i) {
    llvm::PHINode* joined = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    joined->addIncoming(position[i], before);
    joined->addIncoming(in_row[i], row);
    position[i] = joined;
  }
  return position;
}

// All threads of a threadgroup are launched. At an edge that the grid does not fill, the first of them, in the order of
// their index, are those of the smaller threadgroup that is there: SIMD-groups are filled as Metal fills them.
// Threads that are launched as a row have their places computed in the same way.
void GridValues::leave_if_beyond(llvm::Value* is_row) {
  llvm::Value* is_smaller = is_row;
  for (unsigned i = 0; i < 3; ++i)
    is_smaller = builder_.CreateOr(is_smaller, builder_.CreateICmpNE(threads_[i], full_threads_[i]));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::Function* entry = before->getParent();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(builder_.getContext(), name, entry); };
  llvm::BasicBlock *edge = block("edge"), *beyond = block("beyond"), *inside = block("inside"), *after = block("");
  builder_.CreateCondBr(is_smaller, edge, after);
  builder_.SetInsertPoint(edge);
  builder_.CreateCondBr(builder_.CreateICmpULT(index_, product(threads_)), inside, beyond);
  builder_.SetInsertPoint(beyond);
  builder_.CreateRetVoid();
  builder_.SetInsertPoint(inside);
  const Size moved = position_of(index_, threads_);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  for (unsigned i = 0; i < 3; ++i) {
    llvm::PHINode* joined = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    joined->addIncoming(position_[i], before);
    joined->addIncoming(moved[i], inside);
    position_[i] = joined;
  }
}

llvm::Value* GridValues::product(const Size& size) const {
  return builder_.CreateMul(builder_.CreateMul(size[0], size[1]), size[2]);
}

llvm::Value* GridValues::groups(const Size& threads, unsigned width) const {
  return builder_.CreateUDiv(builder_.CreateAdd(product(threads), builder_.getInt32(width - 1)),
                             builder_.getInt32(width));
}

llvm::Value* GridValues::get(GridValue value, unsigned component) const {
  constexpr unsigned simdgroup = 32, quad = 4;
  switch (value) {
    case GridValue::thread_position_in_grid:
      return builder_.CreateAdd(builder_.CreateMul(threadgroup_[component], full_threads_[component]),
                                position_[component]);
    case GridValue::thread_position_in_threadgroup:
      return position_[component];
    case GridValue::thread_index_in_threadgroup:
      return index_;
    case GridValue::thread_index_in_simdgroup:
      return builder_.CreateAnd(index_, simdgroup - 1);
    case GridValue::thread_index_in_quadgroup:
      return builder_.CreateAnd(index_, quad - 1);
    case GridValue::threadgroup_position_in_grid:
      return threadgroup_[component];
    case GridValue::threadgroups_per_grid:
      return threadgroups_[component];
    case GridValue::threads_per_grid:
    case GridValue::grid_size:
      return grid_[component];
    case GridValue::threads_per_threadgroup:
      return threads_[component];
    case GridValue::dispatch_threads_per_threadgroup:
      return full_threads_[component];
    case GridValue::simdgroup_index_in_threadgroup:
      return same_in_simdgroup(builder_, builder_.CreateLShr(index_, 5));
    case GridValue::simdgroups_per_threadgroup:
      return groups(threads_, simdgroup);
    case GridValue::dispatch_simdgroups_per_threadgroup:
      return groups(full_threads_, simdgroup);
    case GridValue::threads_per_simdgroup:
    case GridValue::thread_execution_width:
      return builder_.getInt32(simdgroup);
    case GridValue::quadgroup_index_in_threadgroup:
      return builder_.CreateLShr(index_, 2);
    case GridValue::quadgroups_per_threadgroup:
      return groups(threads_, quad);
    case GridValue::dispatch_quadgroups_per_threadgroup:
      return groups(full_threads_, quad);
    case GridValue::grid_origin:
    case GridValue::none:
      break;
  }
  return builder_.getInt32(0);
}

}  // namespace metalloid::nvidia::lower
