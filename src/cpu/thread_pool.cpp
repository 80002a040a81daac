// A file of its own because oneTBB's templates are part of oneTBB: the thread sanitizer, which does not see how the
// library synchronises its threads, must not look at them either (CMakeLists.txt).
#include "cpu/thread_pool.hpp"

namespace metalloid::cpu {

void ThreadPool::start(void (*task)(void*), void* argument) {
  arena_.enqueue([task, argument] { task(argument); });
}

}  // namespace metalloid::cpu
