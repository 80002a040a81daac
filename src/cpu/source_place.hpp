// Where in the source an instruction comes from: for a function of the standard library, where it is called.
#pragma once

#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instruction.h>

#include <compare>
#include <cstdint>
#include <string>

namespace metalloid::cpu {

struct SourcePlace {
  std::string file;  // empty if nobody knows
  uint32_t line = 0, column = 0;

  auto operator<=>(const SourcePlace&) const = default;
};

// Its own place, else that of an instruction near it, else the beginning of its function.
SourcePlace place_of(const llvm::Instruction& instruction);
SourcePlace place_of(const llvm::DebugLoc& location);
SourcePlace place_of(const llvm::Function& function);  // where it begins

bool is_in_standard_library(const SourcePlace& place);

}  // namespace metalloid::cpu
