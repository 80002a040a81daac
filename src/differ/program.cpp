#include "differ/program.hpp"

#include <fmt/format.h>

namespace metalloid::differ {

namespace {

std::string text_of(const Expression& expression) {
  std::string text;
  auto operand = expression.operands.begin();
  for (const char c : expression.form) {
    if (c == '$')
      text += text_of(*operand++);
    else
      text += c;
  }
  return text;
}

void append(std::string& text, const Block& block, const std::string& indent);

void append(std::string& text, const Statement& statement, const std::string& indent) {
  auto operand = statement.operands.begin();
  auto block = statement.blocks.begin();
  text += indent;
  for (const char c : statement.form) {
    if (c == '$') {
      text += text_of(*operand++);
    } else if (c == '@') {
      text += '\n';
      append(text, *block++, indent + "  ");
      text += indent;
    } else {
      text += c;
      if (c == '\n') text += indent;
    }
  }
  text += '\n';
}

void append(std::string& text, const Block& block, const std::string& indent) {
  for (const Statement& statement : block) append(text, statement, indent);
}

}  // namespace

std::string source_of(const Program& program) {
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (size_t i = 0; i < program.functions.size(); ++i) {
    text += '\n';
    if (i + 1 == program.functions.size()) {
      text += program.arguments;
      for (const Launch& launch : program.launches) text += "//@ " + to_text(launch) + '\n';
      text += fmt::format("//@ seed {}\n", program.seed);
    }
    append(text, program.functions[i], "");
  }
  return text;
}

KernelCase case_of(const Program& program) {
  auto cases = parse_cases(source_of(program));
  if (!cases) return {};  // a program without its kernel, which has no pipeline either
  return std::move(cases->front());
}

}  // namespace metalloid::differ
