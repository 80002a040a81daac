// Random kernels: nested control flow around assignments, arrays, memory and SIMD-group functions. Threads write what
// is their own, or add to counters with operations whose order does not matter. Barriers stand where all threads of a
// threadgroup come by: under conditions and in loops of uniform values only, and before the first return.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "differ/program.hpp"
#include "differ/random_expression.hpp"

namespace metalloid::differ {

namespace {

constexpr const char* arguments =
    "//@ buffer uint random 256\n//@ buffer uchar random 256\n//@ buffer float below:100 256\n//@ bytes uint 5,1000,48\n"
    "//@ buffer uint zeros 8N\n//@ buffer ushort zeros 4N\n//@ buffer uint random 96\n";

constexpr const char* kernel_form =
    R"(kernel void f(device const uint* in, device const uchar* bytes, device const float* reals,
              constant uint* given, device uint* out, device ushort* small, device atomic_uint* counts,
              uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]],
              uint3 group [[threadgroup_position_in_grid]], uint3 size [[threads_per_threadgroup]],
              uint lid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
@})";

// Statements at the beginning and the end of every kernel: a value that is not used can be left out.
struct Declaration {
  const char* form;
  std::vector<Type> operands;
};
const Declaration declarations[] = {{"threadgroup uint shared[256];", {}},
                                    {"const uint tid = at.x + grid.x * (at.y + grid.y * at.z);", {}},
                                    {"const uint n = given[0], m = given[1];", {}},
                                    {"const uint threads = size.x * size.y * size.z;", {}},
                                    {"const uint place = group.x + 3 * group.y;", {}},
                                    {"uint x = $;", {Type::u32}},
                                    {"uint y = tid / given[2];", {}},
                                    {"uint z = tid % given[2];", {}},
                                    {"int i = $;", {Type::i32}},
                                    {"long l = $;", {Type::i64}},
                                    {"float r = clamp($, -1000.0f, 1000.0f);", {Type::f32}},
                                    {"half h = 1;", {}},
                                    {"ushort s = $;", {Type::u16}},
                                    {"uchar c = 3;", {}},
                                    {"uint a[8] = {$, $, 0, 1, 2, 3, 4, 5};", {Type::u32, Type::u32}},
                                    {"Pair p[4] = {{1, 2}, {$, 4}, {5, 6}, {7, 8}};", {Type::u32}},
                                    {"uint4 q = uint4($, $, 7, 9);", {Type::u32, Type::u32}}};
constexpr const char* endings[] = {"out[tid * 8u] ^= x;",
                                   "out[tid * 8u + 1u] ^= y + z;",
                                   "out[tid * 8u + 2u] ^= a[1] + a[6] + q.z;",
                                   "out[tid * 8u + 3u] ^= p[1].x + uint(p[2].y);",
                                   "out[tid * 8u + 4u] ^= uint(i) + uint(l) + uint(l >> 32);",
                                   "out[tid * 8u + 5u] ^= uint(int(r)) + uint(int(h)) + s + c;"};

constexpr const char* helper_form = R"(static uint helper{}(uint x, uint y) {{
  uint z = $;
@  return $;
}})";

constexpr Launch launches[] = {{{100, 1, 1}, {64, 1, 1}},  {{33, 1, 1}, {33, 1, 1}}, {{70, 3, 1}, {32, 2, 1}},
                               {{20, 11, 1}, {16, 8, 1}},  {{9, 5, 3}, {8, 4, 2}},   {{17, 6, 2}, {17, 3, 2}},
                               {{128, 1, 1}, {128, 1, 1}}, {{7, 7, 3}, {3, 3, 3}},   {{5, 1, 1}, {1, 1, 1}},
                               {{50, 4, 1}, {16, 16, 1}}};

// Where a statement stands.
struct Place {
  Names names;
  std::vector<Variable> assignable;
  unsigned depth = 0;       // of control flow
  bool is_uniform = false;  // all threads of the threadgroup come by
  bool may_break = false;   // leave the innermost loop or switch
  bool may_continue = false;
  bool may_return = false;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed), expressions_(random_) {}

  Program program(uint64_t seed) {
    Program program{arguments, {}, seed, {}};
    has_group_functions_ = random_.chance(40);
    program.functions.push_back({"struct Pair { uint x; short y; };", {}, {}});
    std::vector<std::string> helpers;
    for (uint32_t i = random_.below(3); i > 0; --i) {
      program.functions.push_back(helper(helpers.size()));
      helpers.push_back(fmt::format("helper{}", helpers.size()));
    }
    program.functions.push_back(kernel(helpers));
    program.launches = {random_.one_of(launches), random_.one_of(launches)};
    return program;
  }

 private:
  Statement helper(size_t number) {
    Place place;
    place.names.varying = {{Type::u32, "x"}, {Type::u32, "y"}, {Type::u32, "z"}};
    place.names.has_group_functions = has_group_functions_ && random_.chance(30);
    place.assignable = {{Type::u32, "x"}, {Type::u32, "z"}};
    place.depth = 1;
    is_helper_ = true;
    Statement made{fmt::format(helper_form, number), {{Type::u32, "y", {}}, value(Type::u32, place)}, {}};
    place.may_return = true;
    made.blocks.push_back(block(place, 1 + random_.below(3)));
    is_helper_ = false;
    return made;
  }

  Statement kernel(const std::vector<std::string>& helpers) {
    Place place;
    place.names.uniform = {{Type::u32, "n"}, {Type::u32, "m"}, {Type::u32, "place"}, {Type::u32, "threads"}};
    place.names.varying = {
        {Type::u32, "tid"}, {Type::u32, "lid"}, {Type::u32, "lane"}, {Type::u32, "at.x"}, {Type::u32, "at.y"}};
    place.is_uniform = true;
    Block body;
    for (const Declaration& declaration : declarations) {
      body.push_back({declaration.form, {}, {}});
      for (const Type type : declaration.operands) body.back().operands.push_back(value(type, place, 1));
    }
    for (const Variable& variable : {Variable{Type::u32, "x"},
                                     {Type::u32, "y"},
                                     {Type::u32, "z"},
                                     {Type::i32, "i"},
                                     {Type::i64, "l"},
                                     {Type::f32, "r"},
                                     {Type::f16, "h"},
                                     {Type::u16, "s"},
                                     {Type::u8, "c"}}) {
      place.names.varying.push_back(variable);
      place.assignable.push_back(variable);
    }
    place.names.helpers = helpers;
    place.names.has_memory = true;
    place.names.has_group_functions = has_group_functions_;
    append(body, block(place, 3 + random_.below(5)));
    if (random_.chance(40)) {
      place.is_uniform = false;
      place.may_return = true;
      append(body, block(place, 2 + random_.below(3)));
    }
    for (const char* ending : endings) body.push_back({ending, {}, {}});
    return {kernel_form, {}, {std::move(body)}};
  }

  static void append(Block& block, Block more) {
    block.insert(block.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  Block block(const Place& place, uint32_t count) {
    Block made;
    for (uint32_t i = 0; i < count; ++i) made.push_back(statement(place));
    return made;
  }

  Block inner_block(Place place) {
    ++place.depth;
    return block(place, 1 + random_.below(place.depth < 3 ? 4 : 2));
  }

  Statement statement(const Place& place) {
    const uint32_t choice = random_.below(100);
    if (place.depth < 4 && choice < 40) return control(place);
    if (choice < 46 && (place.may_break || place.may_continue)) return jump(place);
    if (choice < 50 && place.may_return) return leave(place);
    if (!is_helper_ && place.is_uniform && choice < 60) return meeting(place);
    if (!is_helper_ && choice < 75) return store(place);
    return assignment(place);
  }

  Statement control(const Place& place) {
    const bool uniform = random_.chance(place.is_uniform ? 50 : 10);
    Place inside = place;
    inside.is_uniform = place.is_uniform && uniform;
    // A jump in code that only some threads reach would take them out of a loop with barriers.
    const bool parts = place.is_uniform && !uniform;
    switch (random_.below(7)) {
      case 0:
      case 1:
      case 2: {
        if (parts) inside.may_break = inside.may_continue = false;
        Statement made = with_operands("if ($) {@}", {Type::boolean}, place, uniform);
        made.blocks.push_back(inner_block(inside));
        if (random_.chance(50)) {
          made.form = "if ($) {@} else {@}";
          made.blocks.push_back(inner_block(inside));
        }
        return made;
      }
      case 3:
        return choice_of_many(place, inside, uniform, parts);
      default:
        return loop(place, inside, uniform);
    }
  }

  Statement choice_of_many(const Place& place, Place inside, bool uniform, bool parts) {
    constexpr const char* forms[] = {
        "switch ($ & 3u) {\ncase 0: {@} break;\ncase 1: {@}\ncase 3: {@} break;\ndefault: {@}\n}",
        "switch ($) {\ncase 1u: {@}\ncase 2u: case 9u: {@} break;\ncase 0xFFFFFFFFu: {@} break;\n}"};
    if (parts) inside.may_continue = false;
    inside.may_break = true;
    inside.depth = std::max(inside.depth, 2u);
    Statement made = with_operands(random_.one_of(forms), {Type::u32}, place, uniform);
    for (auto i = std::count(made.form.begin(), made.form.end(), '@'); i > 0; --i)
      made.blocks.push_back(inner_block(inside));
    return made;
  }

  // Each ends by counting, whatever its condition says. A uniform loop's counter is uniform, and a jump in it too.
  Statement loop(const Place& place, Place inside, bool uniform) {
    const std::string k = fmt::format("k{}", loops_++);
    const int most = place.depth == 0 ? 7 : 3;
    const std::string forms[] = {
        fmt::format("for (uint {0} = 0; {0} < ($ & {1}u); ++{0}) {{@}}", k, most),
        fmt::format("for (uint {0} = $ & {1}u; {0} > 0u; --{0}) {{@}}", k, most),
        fmt::format("{{ uint {0} = 0; while (true) {{ if (++{0} > {1}u || $) break; @}} }}", k, most),
        fmt::format("{{ uint {0} = 0; do {{@}} while (++{0} < {1}u && $); }}", k, most)};
    const uint32_t which = random_.below(4);
    inside.may_break = inside.may_continue = true;
    Statement made = with_operands(forms[which], {which < 2 ? Type::u32 : Type::boolean}, place, uniform);
    (uniform ? inside.names.uniform : inside.names.varying).push_back({Type::u32, k});
    made.blocks.push_back(inner_block(inside));
    return made;
  }

  Statement jump(const Place& place) {
    const bool breaks = !place.may_continue || (place.may_break && random_.chance(50));
    return with_operands(breaks ? "if ($) break;" : "if ($) continue;", {Type::boolean}, place, place.is_uniform);
  }

  Statement leave(const Place& place) {
    if (is_helper_) return with_operands("if ($) return $;", {Type::boolean, Type::u32}, place);
    return with_operands("if ($) { out[tid * 8u + 3u] = $; return; }", {Type::boolean, Type::u32}, place);
  }

  // Threads exchange values through threadgroup memory.
  Statement meeting(const Place& place) {
    constexpr const char* forms[] = {
        "shared[lid] = $; threadgroup_barrier(mem_flags::mem_threadgroup); z ^= shared[$ % threads]; "
        "threadgroup_barrier(mem_flags::mem_threadgroup);",
        "shared[threads - 1u - lid] = $; threadgroup_barrier(mem_flags::mem_threadgroup); x += shared[lid]; "
        "y ^= shared[(lid + $) % threads]; threadgroup_barrier(mem_flags::mem_threadgroup);"};
    return with_operands(random_.one_of(forms), {Type::u32, Type::u32}, place);
  }

  Statement store(const Place& place) {
    constexpr const char* forms[] = {"a[$ & 7u] = $;",
                                     "p[$ & 3u].x = $;",
                                     "q[$ & 3u] = $;",
                                     "out[tid * 8u + ($ & 7u)] = $;",
                                     "out[tid * 8u + ($ & 7u)] += $;",
                                     "a[$ & 7u] ^= $;",
                                     "atomic_fetch_add_explicit(&counts[$ & 15u], $, memory_order_relaxed);",
                                     "atomic_fetch_or_explicit(&counts[16u + ($ & 15u)], $, memory_order_relaxed);",
                                     "atomic_fetch_xor_explicit(&counts[32u + ($ & 15u)], $, memory_order_relaxed);",
                                     "atomic_fetch_min_explicit(&counts[48u + ($ & 15u)], $, memory_order_relaxed);",
                                     "atomic_fetch_max_explicit(&counts[64u + ($ & 15u)], $, memory_order_relaxed);",
                                     "atomic_fetch_and_explicit(&counts[80u + ($ & 15u)], $, memory_order_relaxed);"};
    if (random_.chance(15)) return with_operands("small[tid * 4u + ($ & 3u)] = $;", {Type::u32, Type::u16}, place);
    if (random_.chance(10)) return with_operands("p[$ & 3u].y = $;", {Type::u32, Type::i16}, place);
    if (random_.chance(10)) return with_operands("p[$ & 3u] = p[$ & 3u];", {Type::u32, Type::u32}, place);
    return with_operands(random_.one_of(forms), {Type::u32, Type::u32}, place);
  }

  Statement assignment(const Place& place) {
    const Variable& variable = place.assignable[random_.below(static_cast<uint32_t>(place.assignable.size()))];
    Statement made{variable.name + " = $;", {value(variable.type, place)}, {}};
    if (variable.type == Type::f32) made.form = variable.name + " = clamp($, -1000.0f, 1000.0f);";
    if (variable.type == Type::f16) made.form = variable.name + " = clamp($, -16.0h, 16.0h);";
    if (variable.type == Type::u32 && random_.chance(40))
      made.form = variable.name + (random_.chance(50) ? " += $;" : " ^= $;");
    return made;
  }

  Statement with_operands(std::string form, const std::vector<Type>& types, const Place& place, bool uniform = false) {
    Statement made{std::move(form), {}, {}};
    for (const Type type : types)
      made.operands.push_back(expressions_.expression(type, place.names, uniform, 1 + random_.below(3)));
    return made;
  }

  Expression value(Type type, const Place& place, unsigned depth = 3) {
    return expressions_.expression(type, place.names, false, depth);
  }

  Random random_;
  RandomExpressions expressions_;
  bool has_group_functions_ = false;
  bool is_helper_ = false;
  unsigned loops_ = 0;
};

}  // namespace

Program random_program(uint64_t seed) {
  return Generator(seed).program(seed);
}

}  // namespace metalloid::differ
