// The ways to make a program simpler: leave out a grid or a statement, put what is inside a statement in its place, put
// an operand or a plain number in an expression's place.
#include <algorithm>

#include "differ/program.hpp"

namespace metalloid::differ {

namespace {

size_t size_of(const Expression& expression) {
  size_t size = 1;
  for (const Expression& operand : expression.operands) size += size_of(operand);
  return size;
}

size_t size_of(const Block& block) {
  size_t size = 0;
  for (const Statement& statement : block) {
    size += 3;  // a line less is worth more than an operator less
    for (const Expression& operand : statement.operands) size += size_of(operand);
    for (const Block& inner : statement.blocks) size += size_of(inner);
  }
  return size;
}

const char* plain(Type type) {
  switch (type) {
    case Type::boolean:
      return "true";
    case Type::u8:
      return "uchar(1)";
    case Type::i16:
      return "short(1)";
    case Type::u16:
      return "ushort(1)";
    case Type::i32:
      return "1";
    case Type::u32:
      return "1u";
    case Type::i64:
      return "1l";
    case Type::u64:
      return "1ul";
    case Type::f16:
      return "1.0h";
    case Type::f32:
      return "1.0f";
  }
  return "";
}

// Changes a copy of the program in place, once for every possibility.
class Simplifier {
 public:
  explicit Simplifier(const Program& program) : program_(program) {}

  std::vector<Program> all() {
    if (program_.launches.size() > 1)
      for (size_t i = 0; i < program_.launches.size(); ++i) {
        Program without = program_;
        without.launches.erase(without.launches.begin() + static_cast<std::ptrdiff_t>(i));
        found_.push_back(std::move(without));
      }
    visit(program_.functions);
    std::ranges::stable_sort(found_, {}, [](const Program& program) { return size_of(program.functions); });
    return std::move(found_);
  }

 private:
  void keep() { found_.push_back(program_); }

  void visit(Block& block) {
    for (size_t i = 0; i < block.size(); ++i) {
      const auto at = block.begin() + static_cast<std::ptrdiff_t>(i);
      const Statement saved = *at;
      block.erase(at);
      keep();
      for (const Block& inner : saved.blocks) {
        block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
        if (!inner.empty()) keep();
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(i),
                    block.begin() + static_cast<std::ptrdiff_t>(i + inner.size()));
      }
      block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), saved);
      for (Expression& operand : block[i].operands) visit(operand);
      for (Block& inner : block[i].blocks) visit(inner);
    }
  }

  void visit(Expression& expression) {
    const Expression saved = expression;
    for (const Expression& operand : saved.operands) {
      if (operand.type != saved.type) continue;
      expression = operand;
      keep();
      expression = saved;
    }
    if (saved.form != plain(saved.type)) {
      expression = {saved.type, plain(saved.type), {}};
      keep();
      expression = saved;
    }
    for (Expression& operand : expression.operands) visit(operand);
  }

  Program program_;
  std::vector<Program> found_;
};

}  // namespace

std::vector<Program> simpler(const Program& program) {
  return Simplifier(program).all();
}

}  // namespace metalloid::differ
