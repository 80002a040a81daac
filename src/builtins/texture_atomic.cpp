// Atomic operations on texels: relaxed, on the first 32 bits of a texel, or on its 64 bits for u64. Out of bounds they
// change nothing and give 0.
#include "builtins/texture.hpp"

namespace metalloid::builtins {

// Null if there is no such texel, or it is too small for the element.
template <class T>
static METAL_DEVICE T* element_at(Texture texture, const Place& place) {
  if (is_null(texture) || !is_inside(texture, place) || texture->bytes_per_texel < sizeof(T))
    return reinterpret_cast<METAL_DEVICE T*>(0ull);
  return reinterpret_cast<METAL_DEVICE T*>(address_of(texture, place));
}

#define METAL_ELEMENT(kind, T) element_at<T>(texture_of(texture), place_of(kind, x, y, z, slice, 0))
#define METAL_RELAXED __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE

#define METAL_LOAD_STORE(kind, T, suffix)                                                                      \
  METAL_TEXTURE_BUILTIN(T, kind, atomic_load, suffix, METAL_TEXEL) {                                           \
    METAL_DEVICE T* const element = METAL_ELEMENT(kind, T);                                                    \
    return is_null(element) ? 0 : __scoped_atomic_load_n(element, METAL_RELAXED);                              \
  }                                                                                                            \
  METAL_TEXTURE_BUILTIN(void, kind, atomic_store, suffix, METAL_TEXEL, T desired) {                            \
    METAL_DEVICE T* const element = METAL_ELEMENT(kind, T);                                                    \
    if (!is_null(element)) __scoped_atomic_store_n(element, desired, METAL_RELAXED);                           \
  }                                                                                                            \
  METAL_TEXTURE_BUILTIN(T, kind, atomic_compare_exchange, suffix, METAL_TEXEL, T expected, T desired) {        \
    METAL_DEVICE T* const element = METAL_ELEMENT(kind, T);                                                    \
    if (is_null(element)) return 0;                                                                            \
    __scoped_atomic_compare_exchange_n(element, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                       __MEMORY_SCOPE_DEVICE);                                                 \
    return expected;                                                                                           \
  }
METAL_EACH_SINGLE_SAMPLE(METAL_EACH_ATOMIC, METAL_LOAD_STORE)

#define METAL_MODIFY(kind, T, suffix, operation, function)                    \
  METAL_TEXTURE_BUILTIN(T, kind, operation, suffix, METAL_TEXEL, T operand) { \
    METAL_DEVICE T* const element = METAL_ELEMENT(kind, T);                   \
    return is_null(element) ? 0 : function(element, operand, METAL_RELAXED);  \
  }
#define METAL_MODIFIES(kind, T, suffix)                                      \
  METAL_MODIFY(kind, T, suffix, atomic_exchange, __scoped_atomic_exchange_n) \
  METAL_MODIFY(kind, T, suffix, atomic_fetch_add, __scoped_atomic_fetch_add) \
  METAL_MODIFY(kind, T, suffix, atomic_fetch_sub, __scoped_atomic_fetch_sub) \
  METAL_MODIFY(kind, T, suffix, atomic_fetch_min, __scoped_atomic_fetch_min) \
  METAL_MODIFY(kind, T, suffix, atomic_fetch_max, __scoped_atomic_fetch_max) \
  METAL_MODIFY(kind, T, suffix, atomic_fetch_and, __scoped_atomic_fetch_and) \
  METAL_MODIFY(kind, T, suffix, atomic_fetch_or, __scoped_atomic_fetch_or)   \
  METAL_MODIFY(kind, T, suffix, atomic_fetch_xor, __scoped_atomic_fetch_xor)
METAL_EACH_SINGLE_SAMPLE(METAL_EACH_ATOMIC, METAL_MODIFIES)

}  // namespace metalloid::builtins
