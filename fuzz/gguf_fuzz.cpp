// Opens whatever it is given as a GGUF file, touches every byte of its tensors, and uses its tokenizer.
#include "file_in_memory.hpp"
#include "formats/gguf.hpp"
#include "tokenize.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const FileInMemory file(data, size);
  const auto read = metalloid::formats::Gguf::open(file.path());
  if (!read) return 0;
  unsigned sum = 0;
  for (const metalloid::TensorView& tensor : read->tensors())
    for (size_t i = 0; i < tensor.bytes; ++i) sum += static_cast<const uint8_t*>(tensor.data)[i];
  if (sum == 0xFFFFFFFF) __builtin_trap();
  if (const auto tokenizer = read_gguf_tokenizer(*read)) tokenize(*tokenizer);
  return 0;
}
