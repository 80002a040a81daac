#include "cpu/vector/lane_form.hpp"

#include <bit>

#include "cpu/limits.hpp"
#include "cpu/lower/thread_values.hpp"
#include "cpu/thread_state.hpp"

namespace metalloid::cpu::vector {

namespace {

// Nothing here wraps: a threadgroup has at most 1024 threads, a grid fewer than 2^32 in a direction. Widening has to
// know that to see which addresses are neighbours.
llvm::Value* add(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b, bool is_small = true) {
  return builder.CreateAdd(a, b, "", /*HasNUW=*/true, /*HasNSW=*/is_small);
}

// Of a group's first lane, below the number of threads of a threadgroup, or of several if they are run as one.
llvm::Value* load_small(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset,
                        uint32_t limit = max_threads_per_threadgroup) {
  return lower::load_fixed_number(builder, state, offset, 0, limit);
}

// What is a multiple of a power of two says so: shapes tell from it where lanes agree, as in `i / 64`.
llvm::Value* multiple(llvm::IRBuilder<>& builder, llvm::Value* value, uint32_t power) {
  return power == 1 ? value : builder.CreateAnd(value, builder.getInt32(~(power - 1)));
}

llvm::Value* load_index(llvm::IRBuilder<>& builder, llvm::Value* state, const Variant& variant) {
  if (variant.is_whole) return builder.getInt32(0);
  return multiple(builder, load_small(builder, state, offsetof(ThreadState, index)), variant.width);
}

// A component of a position is the sum of two numbers: one that all lanes share and one that they do not.
struct Position {
  llvm::Value* shared = nullptr;  // null: 0
  llvm::Value* own = nullptr;
};

class Positions {
 public:
  Positions(llvm::IRBuilder<>& builder, llvm::Value* state, const Variant& variant)
      : builder_(builder), state_(state), variant_(variant) {}

  Position component(unsigned number) {
    switch (variant_.positions) {
      case LanePositions::row:
        if (number > 0) return {first(number), nullptr};
        return {multiple(builder_, first(0, most_threads_of_row), variant_.width), lane()};
      case LanePositions::blocks:
        return in_blocks(number);
      case LanePositions::any:
        return {nullptr, from_table(number)};
    }
    return {};
  }

 private:
  llvm::Value* lane() { return vector::lane(builder_, variant_.width); }

  llvm::Value* first(unsigned number, uint32_t limit = max_threads_per_threadgroup) {
    if (variant_.is_whole) return builder_.getInt32(0);
    return load_small(builder_, state_, offsetof(ThreadState, position) + number * sizeof(uint32_t), limit);
  }

  // Groups start at the start of a row; of a layer too, if layers are smaller than groups.
  Position in_blocks(unsigned number) {
    const unsigned log2_width = std::bit_width(variant_.width) - 1, log2_layer = variant_.log2_x + variant_.log2_y;
    const bool has_layers = log2_layer < log2_width;
    if (number == 0) return {nullptr, builder_.CreateAnd(lane(), (1u << variant_.log2_x) - 1)};
    if (number == 2) return {first(2), has_layers ? builder_.CreateLShr(lane(), log2_layer) : nullptr};
    llvm::Value* row = builder_.CreateLShr(lane(), variant_.log2_x);
    if (has_layers) return {nullptr, builder_.CreateAnd(row, (1u << variant_.log2_y) - 1)};
    return {multiple(builder_, first(1), variant_.width >> variant_.log2_x), row};
  }

  llvm::Value* from_table(unsigned number) {
    llvm::Value* table =
        lower::load_fixed_member(builder_, state_, offsetof(ThreadState, lane_positions), builder_.getPtrTy());
    llvm::Value* place = add(builder_, lane(), builder_.getInt32(number * variant_.width));
    llvm::Value* address =
        builder_.CreateInBoundsGEP(builder_.getInt32Ty(), table, builder_.CreateZExt(place, builder_.getInt64Ty()));
    return load_small(builder_, address, 0);
  }

  llvm::IRBuilder<>& builder_;
  llvm::Value* state_;
  const Variant& variant_;
};

llvm::Value* sum(llvm::IRBuilder<>& builder, const Position& position, bool is_small) {
  if (!position.shared || !position.own) return position.shared ? position.shared : position.own;
  return add(builder, position.shared, position.own, is_small);
}

llvm::Value* threads_per_threadgroup(llvm::IRBuilder<>& builder, llvm::Value* grid, unsigned component,
                                     const Variant& variant) {
  if (component == 0 && variant.positions == LanePositions::blocks) return builder.getInt32(1u << variant.log2_x);
  llvm::Value* size = lower::load_fixed_number(
      builder, grid, offsetof(GridState, threads_per_threadgroup) + component * sizeof(uint32_t), 1,
      max_threads_per_threadgroup + 1);
  const bool is_multiple = component == 0 && variant.positions == LanePositions::row && variant.is_aligned;
  return is_multiple ? multiple(builder, size, variant.width) : size;
}

llvm::Value* position_in_grid(llvm::IRBuilder<>& builder, llvm::Value* state, unsigned component, Position inside,
                              const Variant& variant) {
  llvm::Value* threadgroup = lower::threadgroup_state(builder, state);
  llvm::Value* grid =
      lower::load_fixed_member(builder, threadgroup, offsetof(ThreadgroupState, grid), builder.getPtrTy());
  const uint64_t offset = component * sizeof(uint32_t);
  llvm::Value* number = lower::load_fixed_member(builder, threadgroup, offsetof(ThreadgroupState, position) + offset,
                                                 builder.getInt32Ty());
  llvm::Value* size = threads_per_threadgroup(builder, grid, component, variant);
  llvm::Value* start = builder.CreateMul(number, size, "", /*HasNUW=*/true);
  inside.shared = inside.shared ? add(builder, start, inside.shared, /*is_small=*/false) : start;
  return sum(builder, inside, /*is_small=*/false);
}

}  // namespace

llvm::Value* lane(llvm::IRBuilder<>& builder, uint32_t width) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module.getOrInsertFunction(lane_function, builder.getInt32Ty());
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  if (!function->hasFnAttribute(llvm::Attribute::Speculatable)) {
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    function->addFnAttr(llvm::Attribute::Speculatable);
    function->addRetAttr(llvm::Attribute::NoUndef);
    function->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, width)));
  }
  return builder.CreateCall(callee);
}

llvm::Value* lane_value(llvm::IRBuilder<>& builder, llvm::Value* state, GridValue value, unsigned component,
                        const Variant& variant) {
  constexpr uint32_t quad = 4, simdgroup = lanes_of_simdgroup, log2_of_simdgroup = std::bit_width(simdgroup) - 1;
  const bool has_quads = variant.width >= quad;
  switch (value) {
    case GridValue::thread_position_in_grid:
      return position_in_grid(builder, state, component, Positions(builder, state, variant).component(component),
                              variant);
    case GridValue::thread_position_in_threadgroup:
      return sum(builder, Positions(builder, state, variant).component(component), /*is_small=*/true);
    case GridValue::thread_index_in_threadgroup:
      return add(builder, load_index(builder, state, variant), lane(builder, variant.width));
    case GridValue::thread_index_in_simdgroup:
      if (variant.width == simdgroup) return lane(builder, variant.width);
      if (variant.width > simdgroup) return builder.CreateAnd(lane(builder, variant.width), simdgroup - 1);
      return add(builder, builder.CreateAnd(load_index(builder, state, variant), simdgroup - 1),
                 lane(builder, variant.width));
    case GridValue::simdgroup_index_in_threadgroup:
      if (variant.width <= simdgroup) return nullptr;
      return add(builder, builder.CreateLShr(load_index(builder, state, variant), log2_of_simdgroup),
                 builder.CreateLShr(lane(builder, variant.width), log2_of_simdgroup));
    case GridValue::thread_index_in_quadgroup:
      return builder.CreateAnd(has_quads ? lane(builder, variant.width) : load_index(builder, state, variant),
                               quad - 1);
    case GridValue::quadgroup_index_in_threadgroup:
      if (!has_quads) return nullptr;
      return add(builder, builder.CreateLShr(load_index(builder, state, variant), 2),
                 builder.CreateLShr(lane(builder, variant.width), 2));
    default:
      return nullptr;
  }
}

}  // namespace metalloid::cpu::vector
