// A text as numbers: its bytes, of which any may occur, become places in a list of those that do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace metalloid::train_rnn {

struct Text {
  std::vector<uint8_t> vocabulary;  // in rising order
  std::vector<uint16_t> symbols;
  uint64_t fingerprint = 0;  // texts that differ have others

  explicit Text(const std::string& bytes);

  // What a character is worth, in bits, to one who knows the `order` before it, and how often each follows them here.
  double entropy(size_t order) const;
};

// The file's first characters, all if `limit` is 0. Throws a training::Failure if it has none, or cannot be read.
Text read_text(const std::filesystem::path& file, size_t limit);

// The one that came with the program.
std::filesystem::path text_file();

}  // namespace metalloid::train_rnn
