// The main function of a program that trains.
#pragma once

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <string>

#include "failure.hpp"

namespace metalloid::training {

// Returns what the program exits with.
template <class Options>
int run_program(int argc, char** argv, const std::string& name, const std::string& description,
                void (*add_options)(CLI::App&, Options&), int (*train)(const Options&)) {
  CLI::App app(description, name);
  Options options;
  options.command = argv[0];
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_success : exit_usage_error;
  }
  try {
    return train(options);
  } catch (const Failure& failure) {
    fmt::print(stderr, "{}: error: {}\n", name, failure.what());
    return failure.exit_code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}\n", name, error.what());
    return exit_failed;
  }
}

}  // namespace metalloid::training
