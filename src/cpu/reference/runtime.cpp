// What the passes of the reference engine make kernels call.
#include "cpu/reference/engine.hpp"
#include "cpu/runtime_symbols.hpp"

namespace metalloid::cpu {

namespace {

using reference::Engine;

void meet(uint32_t levels, const void* operand, void* result, reference::Combine combine) {
  Engine& engine = Engine::of_this_thread();
  const NativeSection native(engine.kernel_thread());
  engine.meet(levels, operand, result, combine);
}

void threadgroup_barrier(uint32_t levels, uint32_t flags) {
  Engine& engine = Engine::of_this_thread();
  const NativeSection native(engine.kernel_thread());
  engine.wait_at_barrier(levels, flags);
}

void give_turn(uint32_t counts) {
  Engine& engine = Engine::of_this_thread();
  const NativeSection native(engine.kernel_thread());
  engine.give_turn(counts != 0);
}

void check_key(uint32_t levels) {
  Engine::of_this_thread().check_key(levels);
}

}  // namespace

void add_reference_functions(RuntimeSymbols& symbols) {
  symbols.add("metalloid.meet", meet);
  symbols.add("metalloid.threadgroup_barrier", threadgroup_barrier);
  symbols.add("metalloid.give_turn", give_turn);
  symbols.add("metalloid.check_key", check_key);
}

}  // namespace metalloid::cpu
