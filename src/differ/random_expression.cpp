#include "differ/random_expression.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace metalloid::differ {

namespace {

constexpr Type integers[] = {Type::u8, Type::i16, Type::u16, Type::i32, Type::u32, Type::i64, Type::u64};
constexpr Type numbers[] = {Type::u8,  Type::i16, Type::u16, Type::i32, Type::u32,
                            Type::u32, Type::i64, Type::u64, Type::f16, Type::f32};

bool is_float(Type type) {
  return type == Type::f16 || type == Type::f32;
}
bool is_signed(Type type) {
  return type == Type::i16 || type == Type::i32 || type == Type::i64;
}
bool is_64_bits(Type type) {
  return type == Type::i64 || type == Type::u64;
}
bool is_narrow(Type type) {
  return type == Type::u8 || type == Type::i16 || type == Type::u16;
}

// From a uint.
const char* converting_form(Type type) {
  constexpr const char* forms[] = {"bool($ & 1u)", "uchar($)", "short($)", "ushort($)",     "int($)",
                                   "uint($)",      "long($)",  "ulong($)", "half($ & 15u)", "float($ & 255u)"};
  return forms[static_cast<size_t>(type)];
}

}  // namespace

const char* metal_name(Type type) {
  constexpr const char* names[] = {"bool", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float"};
  return names[static_cast<size_t>(type)];
}

Expression RandomExpressions::expression(Type type, const Names& names, bool uniform, unsigned depth) {
  names_ = &names;
  uniform_ = uniform;
  return node(type, depth);
}

Expression RandomExpressions::node(Type type, unsigned depth) {
  if (depth == 0 || random_.chance(15)) return leaf(type);
  if (type == Type::boolean) return boolean(depth);
  if (names_->has_group_functions && !uniform_ && random_.chance(12)) return of_group(type, depth);
  if (names_->has_memory && random_.chance(15)) return of_memory(type, depth);
  if (random_.chance(15)) return converted(type, depth);
  return number(type, depth);
}

Expression RandomExpressions::leaf(Type type) {
  std::vector<const Variable*> fitting;
  for (const Variable& variable : names_->uniform)
    if (variable.type == type) fitting.push_back(&variable);
  if (!uniform_)
    for (const Variable& variable : names_->varying)
      if (variable.type == type) fitting.push_back(&variable);
  if (random_.chance(15) || (fitting.empty() && type == Type::u32)) return literal(type);
  if (fitting.empty()) return {type, converting_form(type), {leaf(Type::u32)}};
  return {type, fitting[random_.below(static_cast<uint32_t>(fitting.size()))]->name, {}};
}

Expression RandomExpressions::literal(Type type) {
  constexpr uint32_t interesting[] = {
      0,   1,   2,   3,   4,   5,    7,     8,     15,         16,         31,         32,         63,        100,
      127, 128, 255, 256, 511, 1000, 32768, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF, 0x10000001};
  const uint32_t value = random_.one_of(interesting);
  switch (type) {
    case Type::boolean:
      return {type, value % 2 == 0 ? "false" : "true", {}};
    case Type::u32:
      return {type, fmt::format("{}u", value), {}};
    case Type::f16:
      return {type, fmt::format("{}.0h", value % 16), {}};
    case Type::f32:
      return {type, fmt::format("{}.0f", value % 1000), {}};
    default:
      return {type, fmt::format("{}({}u)", metal_name(type), value), {}};
  }
}

Expression RandomExpressions::make(Type type, std::string form, Type operands, unsigned depth) {
  const auto places = static_cast<size_t>(std::ranges::count(form, '$'));
  return make(type, std::move(form), std::vector<Type>(places, operands), depth);
}

Expression RandomExpressions::make(Type type, std::string form, const std::vector<Type>& operands, unsigned depth) {
  Expression made{type, std::move(form), {}};
  for (const Type operand : operands) made.operands.push_back(node(operand, depth - 1));
  return made;
}

// Of floats: sums and the like of at most eight products of two, each at most 1000 (16, of half) in magnitude, which is
// what variables are kept to.
Expression RandomExpressions::number(Type type, unsigned depth) {
  const std::string name = metal_name(type);
  if (is_float(type)) {
    constexpr const char* sums[] = {"($ + $)", "($ - $)", "min($, $)", "max($, $)"};
    constexpr const char* products[] = {"($ * $)", "(-$)", "abs($)", "fma($, $, $)"};
    if (depth == 1 || random_.chance(30)) {
      Expression product{type, random_.one_of(products), {}};
      for (const char c : product.form)
        if (c == '$') product.operands.push_back(leaf(type));
      return product;
    }
    if (random_.chance(20)) return make(type, "($ ? $ : $)", {Type::boolean, type, type}, std::min(depth, 3u));
    return make(type, random_.one_of(sums), type, std::min(depth, 3u));
  }
  if (random_.chance(10)) return make(type, "($ ? $ : $)", {Type::boolean, type, type}, depth);
  if (random_.chance(5)) return make(type, "select($, $, $)", {type, type, Type::boolean}, depth);
  if (type == Type::u32 && !names_->helpers.empty() && !uniform_ && random_.chance(10))
    return make(type, names_->helpers[random_.below(static_cast<uint32_t>(names_->helpers.size()))] + "($, $)", type,
                depth);
  constexpr const char* functions[] = {"min($, $)", "max($, $)",       "popcount($)",  "clz($)",
                                       "ctz($)",    "reverse_bits($)", "rotate($, $)", "clamp($, {}(3), {}(90))"};
  if (random_.chance(15)) {
    std::string form = random_.one_of(functions);
    if (form.starts_with("clamp")) form = fmt::format("clamp($, {}(3), {}(90))", name, name);
    return make(type, form, type, depth);
  }
  // Signed and narrow integers are computed as unsigned ones of at least 32 bits.
  const char* wide = is_64_bits(type) ? "ulong" : "uint";
  const char* bits = is_64_bits(type) ? "63" : "31";
  const char* narrow_bits = type == Type::u8 ? "7" : "15";
  constexpr const char* operators[] = {"+", "-", "*", "&", "|", "^", "+", "-", "*", "<<", ">>", "/", "%"};
  const std::string op = random_.one_of(operators);
  if (op == "/" || op == "%") return make(type, fmt::format("{}($ {} {}(($ & 127) | 1))", name, op, name), type, depth);
  if (op == ">>")
    return make(type, fmt::format("{}($ >> ($ & {}u))", name, is_narrow(type) ? narrow_bits : bits), {type, Type::u32},
                depth);
  if (op == "<<") return make(type, fmt::format("{}({}($) << ($ & {}u))", name, wide, bits), {type, Type::u32}, depth);
  if (!is_signed(type) && !is_narrow(type)) return make(type, fmt::format("($ {} $)", op), type, depth);
  return make(type, fmt::format("{}({}($) {} {}($))", name, wide, op, wide), type, depth);
}

Expression RandomExpressions::boolean(unsigned depth) {
  if (names_->has_group_functions && !uniform_ && random_.chance(8)) {
    constexpr const char* votes[] = {"simd_any($)", "simd_all($)", "quad_any($)", "quad_all($)"};
    return random_.chance(15) ? Expression{Type::boolean, "simd_is_first()", {}}
                              : make(Type::boolean, random_.one_of(votes), Type::boolean, depth);
  }
  if (random_.chance(25)) {
    constexpr const char* forms[] = {"($ && $)", "($ || $)", "(!$)", "($ != $)"};
    return make(Type::boolean, random_.one_of(forms), Type::boolean, depth);
  }
  if (random_.chance(30)) return make(Type::boolean, "(($ & 3u) == 1u)", Type::u32, depth);
  constexpr const char* comparisons[] = {"($ < $)", "($ <= $)", "($ == $)", "($ != $)", "($ > $)", "($ >= $)"};
  return make(Type::boolean, random_.one_of(comparisons), random_.one_of(numbers), depth);
}

Expression RandomExpressions::of_memory(Type type, unsigned depth) {
  constexpr const char* words[] = {"in[$ & 255u]",       "in[uchar($)]",     "in[($ * 0x10000001u) & 255u]",
                                   "in[ushort($) >> 8]", "in[min($, 255u)]", "uint(bytes[$ & 255u])"};
  constexpr const char* own[] = {"a[$ & 7u]", "p[$ & 3u].x", "uint(p[$ & 3u].y)", "q[$ & 3u]",
                                 "out[tid * 8u + ($ & 7u)]"};
  switch (type) {
    case Type::u32:
      return make(type, uniform_ || random_.chance(50) ? random_.one_of(words) : random_.one_of(own), type, depth);
    case Type::u8:
      return make(type, "bytes[$ & 255u]", Type::u32, depth);
    case Type::i16:
      return uniform_ ? leaf(type) : make(type, "p[$ & 3u].y", Type::u32, depth);
    case Type::u16:
      return uniform_ ? leaf(type) : make(type, "small[tid * 4u + ($ & 3u)]", Type::u32, depth);
    case Type::f32:
      return make(type, "reals[$ & 255u]", Type::u32, depth);
    default:
      return converted(type, depth);
  }
}

Expression RandomExpressions::of_group(Type type, unsigned depth) {
  constexpr const char* shuffles[] = {"simd_shuffle($, ushort($ & 31u))",
                                      "simd_shuffle_xor($, ushort($ & 31u))",
                                      "simd_broadcast_first($)",
                                      "simd_shuffle_down($, 3)",
                                      "simd_shuffle_up($, 5)",
                                      "quad_shuffle($, ushort($ & 3u))",
                                      "quad_broadcast($, 2)",
                                      "simd_shuffle_rotate_down($, 9)",
                                      "simd_broadcast($, 7)",
                                      "simd_max($)",
                                      "simd_min($)",
                                      "quad_max($)"};
  constexpr const char* sums[] = {"simd_sum($)",
                                  "simd_prefix_inclusive_sum($)",
                                  "simd_prefix_exclusive_sum($)",
                                  "simd_product($)",
                                  "simd_and($)",
                                  "simd_or($)",
                                  "simd_xor($)",
                                  "quad_sum($)"};
  if (type == Type::u32 && random_.chance(10))
    return make(type, "uint(ulong(simd_vote::vote_t(simd_ballot($))))", Type::boolean, depth);
  const bool shuffle = is_float(type) || is_64_bits(type) || random_.chance(50);
  if (is_64_bits(type)) return converted(type, depth);
  std::string form = shuffle ? random_.one_of(shuffles) : random_.one_of(sums);
  // Of half and float, an operand that stays small.
  if (is_float(type)) {
    Expression made{type, std::move(form), {leaf(type)}};
    if (std::ranges::count(made.form, '$') == 2) made.operands.push_back(node(Type::u32, depth - 1));
    return made;
  }
  const bool two = std::ranges::count(form, '$') == 2;
  return make(type, std::move(form), two ? std::vector{type, Type::u32} : std::vector{type}, depth);
}

Expression RandomExpressions::converted(Type type, unsigned depth) {
  const std::string name = metal_name(type);
  if (type == Type::f32)
    return random_.chance(50) ? make(type, "float($)", Type::u8, depth)
                              : Expression{type, "float($)", {leaf(Type::f16)}};
  if (type == Type::f16) return make(type, "half($ & 15)", Type::u8, depth);
  if (type == Type::u32 && random_.chance(15)) return make(type, "uint(int($))", Type::f32, std::min(depth, 3u));
  if (type == Type::i32 && random_.chance(15)) return make(type, "int($)", Type::f16, std::min(depth, 3u));
  if (is_64_bits(type) && random_.chance(30)) return make(type, name + "(ulong($) << 32 | ulong($))", Type::u32, depth);
  if (random_.chance(10)) return make(type, name + "($)", Type::boolean, depth);
  return make(type, name + "($)", random_.one_of(integers), depth);
}

}  // namespace metalloid::differ
