// Clang's types as reflection types: Metal's scalars, vectors, matrices and resources by their data type, structs
// down to their members.
#pragma once

#include <metalloid/reflection.hpp>
#include <vector>

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

// Instantiates class templates on the way where nobody has needed them yet.
Type reflect_type(clang::Sema& sema, clang::QualType type);

// A type of the standard library that stands for a resource.
enum class Resource { none, texture, sampler, visible_function_table };
Resource resource_of(clang::QualType type);

// The name and arguments of a class of the standard library, such as vec<float, 4>.
struct StdlibType {
  llvm::StringRef name;  // empty: none
  llvm::ArrayRef<clang::TemplateArgument> arguments;
};
StdlibType stdlib_type(clang::QualType type);

}  // namespace metalloid::msl
