// A program of somebody else's: compiles a kernel from a string and asks for its code.
#include <cstdio>
#include <metalloid/compiler.hpp>
#include <metalloid/version.hpp>

int main() {
  auto result = metalloid::compile(
      "kernel void twice(device float* x, uint i [[thread_position_in_grid]]) {"
      "  x[i] *= 2.0f;"
      "}");
  std::fputs(metalloid::format(result.diagnostics).c_str(), stderr);
  if (!result.library || !result.library->find("twice") || !result.library->code("twice")) return 1;
  std::printf("Metalloid %s compiled 'twice'\n", metalloid::version.data());
}
