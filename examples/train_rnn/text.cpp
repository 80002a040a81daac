#include "text.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unordered_map>

#include "training/failure.hpp"
#include "training/files.hpp"

namespace metalloid::train_rnn {

Text::Text(const std::string& bytes) {
  std::array<bool, 256> occurs = {};
  fingerprint = 0xCBF29CE484222325;  // FNV-1a
  for (const char byte : bytes) {
    occurs[uint8_t(byte)] = true;
    fingerprint = (fingerprint ^ uint8_t(byte)) * 0x100000001B3;
  }
  std::array<uint16_t, 256> places = {};
  for (size_t byte = 0; byte < 256; ++byte)
    if (occurs[byte]) {
      places[byte] = uint16_t(vocabulary.size());
      vocabulary.push_back(uint8_t(byte));
    }
  symbols.reserve(bytes.size());
  for (const char byte : bytes) symbols.push_back(places[uint8_t(byte)]);
}

double Text::entropy(size_t order) const {
  std::unordered_map<uint64_t, size_t> contexts, continued;
  uint64_t context = 0;
  const uint64_t kept = (uint64_t{1} << 8 * order) - 1;
  size_t count = 0;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const uint64_t with_symbol = context << 8 | symbols[i];
    if (i >= order) {
      ++contexts[context];
      ++continued[with_symbol];
      ++count;
    }
    context = with_symbol & kept;
  }
  double bits = 0;
  for (const auto& [with_symbol, times] : continued)
    bits -= double(times) * std::log2(double(times) / double(contexts[with_symbol >> 8]));
  return count == 0 ? 0 : bits / double(count);
}

Text read_text(const std::filesystem::path& file, size_t limit) {
  const auto fail = [&](const std::string& why) -> std::string {
    throw training::Failure(training::exit_file_error, fmt::format("cannot learn from '{}': {}", file.string(), why));
  };
  if (std::filesystem::is_directory(file)) fail("it is a folder; name a text file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(std::strerror(errno));
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  if (stream.bad()) fail(std::strerror(errno));
  if (bytes.empty()) fail("the file has 0 bytes; name a text of some 10,000 characters or more");
  if (limit > 0 && limit < bytes.size()) bytes.resize(limit);
  return Text(bytes);
}

std::filesystem::path text_file() {
  return training::data_folder("texts") / "genesis.txt";
}

}  // namespace metalloid::train_rnn
