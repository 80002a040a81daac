// The files of a training: they appear whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace metalloid::training {

// Throw a Failure that names the file and says why.
void make_folder(const std::filesystem::path& folder);
void write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace metalloid::training
