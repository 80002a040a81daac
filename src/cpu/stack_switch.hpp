// What a switch between stacks is to the processor. Only what a call must keep is kept, and the other stack is gone on
// with by a return: processors foresee that, and a switch is a matter of a few nanoseconds. Nothing here needs a
// library, so that tests can run it where there is none.
#pragma once

#include <stddef.h>

namespace metalloid::cpu {

// Where a stack was left: the rest is on it.
using StackPointer = void*;

// Leaves the present stack, noting in `from` where, and goes on with `to` where that was left.
extern "C" void metalloid_switch_stack(StackPointer* from, StackPointer to);

// A stack, by its highest address, that calls `body` with `argument` when it is gone on with. `body` never returns.
StackPointer make_stack(void* top, void (*body)(void*), void* argument);

}  // namespace metalloid::cpu
