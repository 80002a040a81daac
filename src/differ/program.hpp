// A random kernel as a tree that knows nothing about Metal but text: a node is a form with places for its children.
// What keeps a kernel well-defined is in the forms (an index is masked, a loop counts) and never in the children, so a
// tree whose children are taken out or exchanged for others of their type is a kernel as good as before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "differ/kernel_case.hpp"

namespace metalloid::differ {

enum class Type : uint8_t { boolean, u8, i16, u16, i32, u32, i64, u64, f16, f32 };

struct Expression {
  Type type = Type::u32;
  std::string form;  // each $ is an operand
  std::vector<Expression> operands;
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  std::string form;  // each $ is an operand, each @ a block
  std::vector<Expression> operands;
  std::vector<Block> blocks;
};

struct Program {
  std::string arguments;  // //@ lines
  std::vector<Launch> launches;
  uint64_t seed = 0;
  Block functions;  // the kernel, `f`, is the last
};

// A well-defined kernel without races whose results are whole numbers: engines that are right agree in every bit. The
// same seed gives the same kernel everywhere.
Program random_program(uint64_t seed);

std::string source_of(const Program& program);
KernelCase case_of(const Program& program);

// All programs that are one step simpler, those that lose most first.
std::vector<Program> simpler(const Program& program);

}  // namespace metalloid::differ
