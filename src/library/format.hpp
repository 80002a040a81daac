// The library file. Everything is little-endian; checksums are XXH3-64.
//
//   header         magic, format version, number of sections, the version of Metalloid that wrote it, the file's size,
//                  and a checksum of all that and of the section table: 48 bytes
//   section table  for each section its name, offset, size and checksum: 32 bytes each
//   sections       "index", "code", and, where code was made for devices ahead of time, "devindex" and "devcode"; a
//                  reader skips those whose name it does not know
//
// The index is read at open, so it is compact. Variable-length integers throughout, in this order: the strings;
// parameter lists, each once however many functions share it; lists of function constants, likewise; the library's
// function constants; the chunks of code; the functions, which refer to all of these by number.
//
// The code section is one chunk after the other. A chunk is the bitcode of neighbouring functions, compressed together
// by zstd: instantiations of one template are much alike, and a quarter megabyte of MLX's kernels compresses to a
// quarter where each by itself compresses to two thirds, while reading one of them still takes well under a
// millisecond. Modules that are equal are kept once. A chunk is checked against its checksum in the index when it is
// read; the section's own checksum is 0 for that reason.
//
// "devindex" has, for each piece of such code, four strings (function, device, form, key), its size in "devcode", its
// size when it is decompressed, and a checksum of it as it is there. The pieces lie in "devcode" in the same order,
// each compressed by itself, and are checked when they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace metalloid::format {

// The first byte is never text, and the line ends at the end betray a transfer that "corrects" them.
inline constexpr std::string_view magic = "\x8fMTLOD\r\n";
inline constexpr uint32_t version = 3;
inline constexpr size_t header_size = 48;
inline constexpr size_t checked_header_size = 40;  // what comes before the checksum
inline constexpr size_t producer_width = 16;
inline constexpr size_t section_entry_size = 32;
inline constexpr size_t section_name_width = 8;
inline constexpr std::string_view index_section = "index";
inline constexpr std::string_view code_section = "code";
inline constexpr std::string_view device_index_section = "devindex";
inline constexpr std::string_view device_code_section = "devcode";

inline constexpr size_t chunk_size = 256 * 1024;               // uncompressed; a larger module has a chunk of its own
inline constexpr uint64_t largest_chunk = 256u << 20;          // uncompressed
inline constexpr uint64_t largest_expansion = 32768;           // zstd's limit: a block of 128 KiB takes 4 bytes
inline constexpr unsigned deepest_type = 64;                   // structs in structs in arrays in ...
inline constexpr uint64_t most_reflected = uint64_t{1} << 22;  // parameters and types within, over all functions

}  // namespace metalloid::format
