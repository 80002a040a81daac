// The files a shader may see: the standard headers, which live in memory; for source from a string, those below the
// include folders that the caller named and nothing else of the machine it is compiled on; for source from a file, what
// any compiler sees.
#pragma once

#include <filesystem>
#include <vector>

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

// Where the standard headers appear to be. No real path is under it.
inline constexpr llvm::StringLiteral stdlib_folder = "/metal-stdlib";

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>;

// Everything; only what is below the folders.
FileSystem all_files();
FileSystem files_below(const std::vector<std::filesystem::path>& folders);

// The standard headers, with the precompiled one if there is one, before other files (may be null: none).
FileSystem with_stdlib(FileSystem files, std::unique_ptr<llvm::MemoryBuffer> precompiled_header);

inline constexpr llvm::StringLiteral precompiled_header_path = "/metal-stdlib/precompiled";

// Whether a location is in a standard header, in its own text or as a macro of its own.
bool in_stdlib(const clang::SourceManager& sources, clang::SourceLocation location);

}  // namespace metalloid::msl
