// Metal's attributes as Clang attributes. They are registered with the parser when the program starts; what they say
// is kept on the declaration for the reflection to read, and has no effect on code generation.
#pragma once

#include "clang_headers.hpp"

#include <optional>
#include <string>

namespace metalloid::msl {

// The attribute's first argument as text ("3" for [[buffer(3)]], "" if it has none), or nothing if it is not there.
std::optional<std::string> find_attribute(const clang::Decl* declaration, llvm::StringRef name);
std::optional<uint64_t> find_number(const clang::Decl* declaration, llvm::StringRef name);

// The grid values are attributes too: the one on this parameter, as its name.
std::optional<std::string> find_any(const clang::Decl* declaration, llvm::ArrayRef<llvm::StringRef> names);

}  // namespace metalloid::msl
