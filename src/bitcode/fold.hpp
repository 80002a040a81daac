// Constants propagate and code that they make unreachable goes, before anything looks at what a function does: a
// barrier behind a function constant that is false is no barrier. Nothing here moves or copies a convergent call.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::bitcode {

void fold(llvm::Module& module);

// A constructor of constants, all it calls included, is computed as far as it can be: loops of known length go, too.
void fold_constructor(llvm::Function& constructor);

}  // namespace metalloid::bitcode
