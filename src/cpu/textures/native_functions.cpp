#include "cpu/textures/native_functions.hpp"

#include "cpu/runtime_symbols.hpp"

namespace metalloid::cpu {

namespace textures {

// CMakeLists.txt compiles native.cpp into each of these.
extern "C" TextureFunctions metalloid_texture_functions();
#if defined(__x86_64__)
extern "C" TextureFunctions metalloid_texture_functions_v3();
extern "C" TextureFunctions metalloid_texture_functions_v4();
#endif

std::vector<TextureFunctions> native_functions() {
  std::vector<TextureFunctions> lists;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) lists.push_back(metalloid_texture_functions_v4());
  if (__builtin_cpu_supports("x86-64-v3")) lists.push_back(metalloid_texture_functions_v3());
#endif
  lists.push_back(metalloid_texture_functions());
  return lists;
}

}  // namespace textures

void add_texture_functions(RuntimeSymbols& symbols) {
  const textures::TextureFunctions functions = textures::native_functions().front();
  for (unsigned i = 0; i < functions.count; ++i)
    symbols.add(textures::native_symbol(functions.first[i].builtin), functions.first[i].body);
}

}  // namespace metalloid::cpu
