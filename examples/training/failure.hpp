// Why training ends early: a sentence for people, and what the program exits with.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace metalloid::training {

enum ExitCode { exit_success = 0, exit_failed = 1, exit_usage_error = 2, exit_file_error = 3, exit_interrupted = 130 };

class Failure : public std::runtime_error {
 public:
  Failure(ExitCode exit_code, const std::string& sentence) : std::runtime_error(sentence), exit_code(exit_code) {}
  const ExitCode exit_code;
};

// The loss is no number any more, in a step (from 0 on) of an epoch. `checkpoint` is what is left of the training, if
// it was saved.
[[noreturn]] void fail_at_loss(size_t epoch, size_t step, double rate, const std::filesystem::path& checkpoint);

}  // namespace metalloid::training
