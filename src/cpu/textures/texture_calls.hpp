// Accesses of textures become calls of native code (texture_function.hpp), which is there once for all kernels: as part
// of each, the code of one sample would take a quarter of a second to compile. It serves all lanes of a group at once
// if they access the same texture, else one lane.
//
// Left to their bodies (src/builtins) are atomics, and 64-bit texels.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace metalloid::cpu::textures {

// Whether the builtin of that name is native code.
bool is_native(llvm::StringRef builtin);

// Takes their bodies out of the module.
void leave_out_bodies(llvm::Module& module);

// The call's first arguments: the texture and, if it has one, the sampler. Lanes that go together agree on them.
bool has_sampler(const llvm::CallInst& call);
llvm::iterator_range<llvm::User::const_op_iterator> resources(const llvm::CallInst& call);

// The call, for lanes: `rows` are the arguments behind the resources, vectors of as many lanes, or scalars of one, each
// element of a vector a row of its own. Gives the rows of the result.
llvm::SmallVector<llvm::Value*, 4> access(llvm::IRBuilder<>& builder, const llvm::CallInst& call,
                                          llvm::ArrayRef<llvm::Value*> resources, llvm::ArrayRef<llvm::Value*> rows,
                                          llvm::Value* mask);

// Calls of one lane that are left.
void lower_calls(llvm::Module& module);

}  // namespace metalloid::cpu::textures
