// Device memory is address space 1, as in kernels (docs/builtins.md): what a handle points to is there.
#pragma once

#define METAL_DEVICE __attribute__((address_space(1)))

namespace metalloid::builtins {

// Asked of the bits: comparing with nullptr would cast it between address spaces.
template <class T>
bool is_null(METAL_DEVICE T* pointer) {
  return reinterpret_cast<unsigned long long>(pointer) == 0;
}

}  // namespace metalloid::builtins
