// Opens whatever it is given as a library, reads and describes all of it. Checksums would keep nearly every mutation
// out of the decoder, so the input is tried a second time with its checksums made right.
#include "../tests/library/sample_library.hpp"
#include "library/describe.hpp"

namespace {

void read_everything(std::vector<uint8_t> file) {
  const auto library = metalloid::Library::from_bytes(std::move(file));
  if (!library) return;
  for (std::string_view name : (*library)->function_names()) (void)(*library)->code(name);
  for (const metalloid::DeviceCode& code : (*library)->device_code()) (void)code.read();
  (void)metalloid::describe_text(**library);
  (void)metalloid::describe_text(**library, {.most_in_full = 0});
  (void)metalloid::describe_json(**library);
  (void)(*library)->serialise();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  read_everything(file);
  metalloid::sample::reseal(file);
  read_everything(std::move(file));
  return 0;
}
