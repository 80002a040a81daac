// Links the bodies of those builtins that a module calls (src/builtins) into it. What has no body there is the
// device's own: group functions, barriers, logging.
#pragma once

#include <llvm/IR/Module.h>

#include <metalloid/result.hpp>

namespace metalloid::bitcode {

Status link_builtin_bodies(llvm::Module& module);

}  // namespace metalloid::bitcode
