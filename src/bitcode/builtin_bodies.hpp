// Links the bodies of those builtins that a module calls (src/builtins) into it. What has no body there is the
// device's own: group functions, barriers, logging.
#pragma once

#include <llvm/IR/Module.h>

#include <metalloid/result.hpp>

namespace metalloid::bitcode {

Status link_builtin_bodies(llvm::Module& module);

// Whether the builtin of that name reads or writes texels: long code, whatever the texture's format may be.
bool accesses_texture(llvm::StringRef name);

}  // namespace metalloid::bitcode
