// Opens whatever it is given as a safetensors file, touches every byte of its tensors and writes it again.
#include <metalloid/safetensors.hpp>

#include "file_in_memory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const FileInMemory file(data, size);
  const auto read = metalloid::Safetensors::open(file.path());
  if (!read) return 0;
  unsigned sum = 0;
  for (const metalloid::TensorView& tensor : read->tensors()) {
    for (size_t i = 0; i < tensor.bytes; ++i) sum += static_cast<const uint8_t*>(tensor.data)[i];
    if (read->find(tensor.name) != &tensor) __builtin_trap();
  }
  const auto written = metalloid::write_safetensors("/dev/null", read->tensors(), read->metadata());
  if (!written || sum == 0xFFFFFFFF) __builtin_trap();
  return 0;
}
