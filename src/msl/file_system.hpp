// The files a shader may see: the standard headers, which live in memory, and those below the folders that the caller
// named. Source from a string with no include folders sees nothing of the machine it is compiled on.
#pragma once

#include "clang_headers.hpp"

#include <filesystem>
#include <vector>

namespace metalloid::msl {

// Where the standard headers appear to be. No real path is under it.
inline constexpr llvm::StringLiteral stdlib_folder = "/metal-stdlib";

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_file_system(const std::vector<std::filesystem::path>& folders,
                                                                 std::unique_ptr<llvm::MemoryBuffer> precompiled_header);

inline constexpr llvm::StringLiteral precompiled_header_path = "/metal-stdlib/precompiled";

// Whether a location is in a standard header, in its own text or as a macro of its own.
bool in_stdlib(const clang::SourceManager& sources, clang::SourceLocation location);

}  // namespace metalloid::msl
