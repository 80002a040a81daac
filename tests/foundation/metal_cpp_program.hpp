// A program as one writes it against metal-cpp, compiled as C++17. Answers what it would print.
#pragma once

#include <string>

std::string run_metal_cpp_program();
