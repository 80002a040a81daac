// Fences of a single thread. Texels are ordinary memory here, so one fence orders all kinds of memory, and a texture's
// own is nothing more than that.

namespace metalloid::builtins {

void atomic_thread_fence(unsigned flags, int order, int scope) asm("metal.atomic_thread_fence");
void atomic_thread_fence(unsigned, int order, int) {
  switch (order) {
    case __ATOMIC_ACQUIRE:
      return __atomic_thread_fence(__ATOMIC_ACQUIRE);
    case __ATOMIC_RELEASE:
      return __atomic_thread_fence(__ATOMIC_RELEASE);
    case __ATOMIC_ACQ_REL:
      return __atomic_thread_fence(__ATOMIC_ACQ_REL);
    case __ATOMIC_SEQ_CST:
      return __atomic_thread_fence(__ATOMIC_SEQ_CST);
    default:
      return;
  }
}

void texture_fence(unsigned long long texture) asm("metal.texture_fence");
void texture_fence(unsigned long long) {
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

}  // namespace metalloid::builtins
