// Why training ends early: a sentence for people, and what the program exits with.
#pragma once

#include <stdexcept>
#include <string>

namespace metalloid::training {

enum ExitCode { exit_success = 0, exit_failed = 1, exit_usage_error = 2, exit_file_error = 3, exit_interrupted = 130 };

class Failure : public std::runtime_error {
 public:
  Failure(ExitCode exit_code, const std::string& sentence) : std::runtime_error(sentence), exit_code(exit_code) {}
  const ExitCode exit_code;
};

}  // namespace metalloid::training
