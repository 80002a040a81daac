// Places all over a large buffer, fetched before lanes get there. Memory is far, and what lanes load from it one by one
// or store to it keeps a core waiting for a few lines at a time; but it can have many more on their way to the second
// of its caches. So, where groups run in a loop (group_loop.hpp), each iteration asks for what a later group will
// access, as far as that follows from memory that this group's threads read at fixed places, like the index of a
// gather.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <functional>
#include <optional>

#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

// Marks the places that lanes are about to access, in the buffer at this offset in the dispatch's arguments.
void mark_places(llvm::IRBuilder<>& builder, llvm::Value* pointers, uint64_t offset_of_argument);

// Of the buffer that a pointer of lane form points into; none if it is no argument of the kernel.
std::optional<uint64_t> offset_of_argument(const llvm::Value* pointer, const llvm::DataLayout& layout);

void erase_marks(llvm::Function& function);

// What is left of a group's code if it only fetches what it has marked, the buffers that it fetches, and the gathers
// and scatters of the group itself at the places that it marked. There is none if that would take too much, or read
// what the group might not. The marks are gone afterwards.
struct CodeAhead {
  llvm::Function* fetch = nullptr;
  llvm::SmallVector<uint64_t> arguments;
  llvm::SmallVector<llvm::IntrinsicInst*> accesses;
};
CodeAhead take_code_ahead(llvm::Function& group, const std::function<void(llvm::Function&)>& simplify);

// A gather or a scatter of all lanes becomes a load or a store for each: that is faster where they have to wait for
// memory, even on processors whose gathers are fast where they do not.
void access_one_by_one(llvm::IntrinsicInst& access);

// Whether one of the buffers is larger than a cache.
llvm::Value* is_worth_fetching(llvm::IRBuilder<>& builder, llvm::Value* state, const CodeAhead& ahead);

// How many groups ahead.
inline uint32_t groups_ahead(uint32_t width) {
  constexpr uint32_t lanes_ahead = 128;
  return width < lanes_ahead ? lanes_ahead / width : 1;
}

// Asks for what lies behind the vectors that a group reads, in every other array further behind: lines of several
// arrays at the same distance from their pages' beginnings come more slowly. It is for grids whose groups take one
// after the other what fills caches: processors look ahead themselves, but not far enough where several streams come
// from far memory; but for a Zen 5, which does, and is slowed down by being asked.
void fetch_streams(llvm::Function& group);

}  // namespace metalloid::cpu::vector
