// Random expressions. Integers wrap around, so they are computed unsigned; floats are whole numbers small enough that
// every operation is exact, so that contraction, reassociation and rounding have nothing to differ in.
#pragma once

#include <string>
#include <vector>

#include "differ/program.hpp"
#include "differ/random.hpp"

namespace metalloid::differ {

struct Variable {
  Type type = Type::u32;
  std::string name;
};

// What an expression may be made of where it stands.
struct Names {
  std::vector<Variable> uniform;  // the same in all threads of a threadgroup
  std::vector<Variable> varying;
  std::vector<std::string> helpers;  // functions of two uints
  bool has_memory = false;           // the kernel's buffers and arrays
  bool has_group_functions = false;
};

class RandomExpressions {
 public:
  explicit RandomExpressions(Random& random) : random_(random) {}

  // Of uniform names only, if asked.
  Expression expression(Type type, const Names& names, bool uniform, unsigned depth);

 private:
  Expression leaf(Type type);
  Expression literal(Type type);
  Expression node(Type type, unsigned depth);
  Expression number(Type type, unsigned depth);
  Expression boolean(unsigned depth);
  Expression of_memory(Type type, unsigned depth);
  Expression of_group(Type type, unsigned depth);
  Expression converted(Type type, unsigned depth);

  // A form with operands of one type, or of the types in the order of its places.
  Expression make(Type type, std::string form, Type operands, unsigned depth);
  Expression make(Type type, std::string form, const std::vector<Type>& operands, unsigned depth);

  Random& random_;
  const Names* names_ = nullptr;
  bool uniform_ = false;
};

const char* metal_name(Type type);

}  // namespace metalloid::differ
