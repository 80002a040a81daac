// What the processor can do that a function is compiled for.
#pragma once

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

// Whether the function's attribute "target-features" switches a feature of LLVM's on: "avx512f", "avx2".
inline bool has_feature(const llvm::Function& function, llvm::StringRef feature) {
  bool is_on = false;
  for (llvm::StringRef setting : llvm::split(function.getFnAttribute("target-features").getValueAsString(), ','))
    if (setting.substr(1) == feature) is_on = setting.front() == '+';
  return is_on;
}

// Processors that some choices are made for because of what was measured on them.
inline bool is_zen(const llvm::Function& function) {
  return function.getFnAttribute("target-cpu").getValueAsString().starts_with("znver");
}
inline bool is_zen_5(const llvm::Function& function) {
  return function.getFnAttribute("target-cpu").getValueAsString() == "znver5";
}

// Registers for masks, with masked loads and stores of every type.
inline bool has_mask_registers(const llvm::Function& function) {
  return has_feature(function, "avx512vl") && has_feature(function, "avx512bw");
}

// How many sums, of float, half of the registers have room for.
inline unsigned sums_in_registers(const llvm::Function& function) {
  if (has_feature(function, "avx512f")) return 16 * 16;
  return has_feature(function, "avx") || has_feature(function, "neon") ? 64 : 32;
}

}  // namespace metalloid::cpu::vector
