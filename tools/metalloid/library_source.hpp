// A library that is an argument of a command: Metal source, with options for the compiler, or a compiled one.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <metalloid/library.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::tool {

struct LibrarySource {
  std::string file;
  std::vector<std::string> macros, include_directories;
  bool safe_math = false;

  void add_options(CLI::App& command);
  // Warnings go to standard error. Throws a Failure that says what is wrong with the file.
  std::shared_ptr<Library> load() const;
  // The names of its kernels that have this in them; a Failure if there is none.
  std::vector<std::string> kernels_with(const Library& library, std::string_view part) const;
};

}  // namespace metalloid::tool
