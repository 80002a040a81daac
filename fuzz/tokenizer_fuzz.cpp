// Reads whatever it is given as a tokenizer of Hugging Face, or of llama2.c, whose number of tokens is the first byte,
// and as a model of llama2.c.
#include "file_in_memory.hpp"
#include "formats/llama2c.hpp"
#include "tokenize.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace metalloid::formats;
  const FileInMemory file(data, size);
  if (const auto tokenizer = read_huggingface_tokenizer(file.path(), {2})) tokenize(*tokenizer);
  if (size == 0) return 0;
  const FileInMemory rest(data + 1, size - 1);
  if (const auto tokenizer = read_llama2c_tokenizer(rest.path(), data[0])) tokenize(*tokenizer);
  if (const auto model = Llama2c::open(rest.path())) {
    unsigned sum = 0;
    for (const metalloid::TensorView& tensor : model->tensors)
      for (size_t i = 0; i < tensor.bytes; ++i) sum += static_cast<const uint8_t*>(tensor.data)[i];
    if (sum == 0xFFFFFFFF) __builtin_trap();
  }
  return 0;
}
