// Whether a thread of the program has room for work of ours.
#pragma once

namespace metalloid::cpu {

// Whether so much is left of the calling thread's stack that math libraries can work on it; kernels have stacks of
// their own. False on stacks that the program made itself, as coroutines have them.
bool has_room_on_stack();

}  // namespace metalloid::cpu
