// Calls through pointers as a choice between the functions that can be meant: those that have their address taken in
// the module and the visible functions linked in, by signature. A function's address becomes its handle, a number other
// than 0; calling any other does nothing and gives zero.
#pragma once

#include <llvm/IR/Module.h>

#include <span>

namespace metalloid::bitcode {

void resolve_function_pointers(llvm::Module& module, std::span<llvm::Function* const> visible_functions);

uint64_t handle_of_visible_function(size_t place);  // its place in the request

}  // namespace metalloid::bitcode
