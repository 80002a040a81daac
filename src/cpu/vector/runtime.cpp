// What widened code calls (lane_form.hpp).
#include "cpu/runtime_symbols.hpp"
#include "cpu/vector/engine.hpp"
#include "cpu/vector/lane_form.hpp"

namespace metalloid::cpu {

namespace {

using vector::Group;

template <void (vector::Engine::*function)(Group&)>
void call(ThreadState* state) {
  Group& group = *static_cast<Group*>(state);
  (group.engine->*function)(group);
}

}  // namespace

void add_vector_functions(RuntimeSymbols& symbols) {
  symbols.add(vector::barrier_function.str(), call<&vector::Engine::wait_at_barrier>);
  symbols.add(vector::turn_function.str(), call<&vector::Engine::let_others_run>);
  symbols.add(vector::partial_function.str(), call<&vector::Engine::run_as_partial>);
}

}  // namespace metalloid::cpu
