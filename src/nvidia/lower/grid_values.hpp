// What an attribute such as [[thread_position_in_grid]] asks for, computed from a GPU's special registers and the size
// of the launch.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <array>
#include <metalloid/reflection.hpp>

#include "nvidia/lower/lane_order.hpp"

namespace metalloid::nvidia::lower {

class GridValues {
 public:
  // At the start of an entry: `size` is its LaunchSize (compile.hpp), in memory. Threads beyond the edge of the grid
  // return, unless the grid is even and has none; the builder goes on with the others.
  GridValues(llvm::IRBuilder<>& builder, llvm::Value* size, LaneOrder order, bool is_even);

  // A component (x, y, z: 0 to 2) as an i32; scalars have a component 0 only.
  llvm::Value* get(GridValue value, unsigned component) const;

 private:
  using Size = std::array<llvm::Value*, 3>;

  Size load_size(llvm::Value* launch, size_t offset);
  llvm::Value* load_flag(llvm::Value* launch, size_t offset);
  Size registers(const char* name);
  Size find_threadgroup(llvm::Value* is_row);
  Size position_of(llvm::Value* number, const Size& size);
  llvm::Value* find_index(LaneOrder order);
  void leave_if_beyond(llvm::Value* is_row);
  llvm::Value* product(const Size& size) const;
  llvm::Value* groups(const Size& threads, unsigned width) const;
  llvm::Value* special_register(llvm::StringRef name) const;

  llvm::IRBuilder<>& builder_;
  Size grid_, full_threads_, threadgroups_;  // of the launch
  Size threadgroup_, threads_, position_;    // the threadgroup's place and actual size, the thread's place in it
  llvm::Value* index_ = nullptr;             // of the thread in its threadgroup
};

}  // namespace metalloid::nvidia::lower
