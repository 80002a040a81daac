// Reading inputs and writing outputs, where "-" stands for standard input and output.
#pragma once

#include <memory>
#include <metalloid/library.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::tool {

inline constexpr std::string_view standard_stream = "-";

// Throws a Failure that says why if the file cannot be read.
void require_readable(const std::string& path);
std::string read_input(const std::string& path);

// A file appears whole or not at all.
void write_output(const std::string& path, std::string_view bytes);

// The libraries in a .metallib, .air or .metalar file: the last holds several.
std::vector<std::shared_ptr<Library>> read_libraries(const std::string& path);

// All of them as one, in which functions of one file that another calls are found.
std::shared_ptr<Library> link_libraries(const std::vector<std::shared_ptr<Library>>& libraries);

// Compiles what is not compiled yet, with progress on terminals when that takes long. The library's file.
std::vector<uint8_t> compile_functions(const Library& library);
void write_library(const Library& library, const std::string& path);

}  // namespace metalloid::tool
