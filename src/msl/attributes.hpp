// Metal's attributes as Clang attributes. They are registered with the parser when the program starts; what they say
// is kept on the declaration for the reflection to read, and has no effect on code generation.
#pragma once

#include <optional>
#include <string>

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

// Each of Metal's attributes on the declaration: its name, and its first argument as text ("3" for [[buffer(3)]]).
void for_each_attribute(const clang::Decl* declaration,
                        llvm::function_ref<void(llvm::StringRef name, const std::string& argument)> visit);

// The argument of the one with this name ("" if it has none), or nothing if it is not there.
std::optional<std::string> find_attribute(const clang::Decl* declaration, llvm::StringRef name);
std::optional<uint64_t> find_number(const clang::Decl* declaration, llvm::StringRef name);

}  // namespace metalloid::msl
