// Where a language model runs, as its commands let people choose.
#pragma once

#include <CLI/App.hpp>
#include <metalloid/backend.hpp>
#include <string>

namespace metalloid::tool {

struct BackendOptions {
  BackendPreference preference = BackendPreference::Auto;
  std::string device;
};

// The options outlive the command.
void add_backend_options(CLI::App& command, BackendOptions& options);

// Throws a Failure that says what is missing.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace metalloid::tool
