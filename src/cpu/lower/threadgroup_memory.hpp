// Threadgroup variables become places in the memory of the threadgroup, whose address is in the thread's state:
//
//     @tile = internal addrspace(3) global [1024 x float] undef   →   threadgroup memory + 4096
//
// Those with an initialiser other than undef must have it when a threadgroup starts.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

namespace metalloid::cpu::lower {

struct ThreadgroupLayout {
  struct Variable {
    std::string name;  // its symbol
    uint64_t offset = 0, bytes = 0;
    bool is_initialised = false;
  };

  uint64_t bytes = 0;
  std::vector<Variable> variables;  // in the order of the module
  std::string initial;              // the first bytes of the memory, as far as any are initialised
};

// What the layout will have.
uint64_t threadgroup_bytes(const llvm::Module& module);

ThreadgroupLayout lower_threadgroup_memory(llvm::Module& module);

}  // namespace metalloid::cpu::lower
