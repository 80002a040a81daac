// Functions of a library have SPIR's calling convention, which means nothing to a processor: all get C's.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::bitcode {

void use_c_calling_convention(llvm::Module& module);

}  // namespace metalloid::bitcode
