#include "cpu/reference/group_functions.hpp"

namespace metalloid::cpu {
namespace {

// Lanes that meet have arrived, and they share one thread of the host: there is nothing left to do.
void simdgroup_barrier(const reference::Meeting&) {}

}  // namespace

void add_group_functions(RuntimeSymbols& symbols) {
  symbols.add("metal.simdgroup_barrier", simdgroup_barrier);
  reference::add_reductions(symbols);
  reference::add_shuffles(symbols);
  reference::add_votes(symbols);
  reference::add_matrices(symbols);
}

}  // namespace metalloid::cpu
