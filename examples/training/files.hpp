// The files of a training: they appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace metalloid::training {

// Throw a Failure that names the file and says why.
void make_folder(const std::filesystem::path& folder);
void write_file(const std::filesystem::path& file, std::string_view bytes);

// Where the data are that came with the program: beside an example, or in share, under this name, beside the tool.
std::filesystem::path data_folder(const std::string& name);

}  // namespace metalloid::training
