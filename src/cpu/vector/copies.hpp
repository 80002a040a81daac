// Copies of a lane: scalars side by side that are loaded for nothing but to be stored side by side elsewhere, as
//
//     *(threadgroup Eight*)(tile + place) = *(device const Eight*)(matrix + start);
//
// is when copies of memory have become loads and stores. What a lane copies can stay in one piece; it need not become
// vectors of all lanes, which come apart again.
#pragma once

#include <optional>

#include "cpu/vector/neighbours.hpp"

namespace metalloid::cpu::vector {

struct Copy {
  Neighbours loads, stores;  // without gaps, in powers of two
};

// That begins with this load, the first of them in its block.
std::optional<Copy> find_copy(llvm::LoadInst& first, const llvm::DataLayout& layout);

}  // namespace metalloid::cpu::vector
