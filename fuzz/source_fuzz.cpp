// Compiles whatever it is given as Metal source, as far as the code of every function.
#include <metalloid/compiler.hpp>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  metalloid::CompileOptions options;
  options.cache = false;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const metalloid::CompileResult result = metalloid::compile(source, options);
  (void)metalloid::format(result.diagnostics);
  if (!result.library) return 0;
  for (std::string_view name : result.library->function_names()) (void)result.library->code(name);
  return 0;
}
