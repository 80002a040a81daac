// Products of integers with sums of int, a thread for each number of the result; alpha and beta become integers too.
#include "product.h"

constant uint transpose_left [[function_constant(0)]];
constant uint transpose_right [[function_constant(1)]];

template <typename T>
kernel void integer_product(device const T* left [[buffer(0)]], device const T* right [[buffer(1)]],
                            device int* result [[buffer(2)]], constant Product& product [[buffer(3)]],
                            uint3 position [[thread_position_in_grid]]) {
  if (position.x >= product.columns || position.y >= product.rows) return;
  const ulong left_step = transpose_left ? product.left.row : 1, right_step = transpose_right ? 1 : product.right.row;
  left += position.z * product.left.matrix + position.y * (transpose_left ? 1 : product.left.row);
  right += position.z * product.right.matrix + position.x * (transpose_right ? product.right.row : 1);
  result += position.z * product.result.matrix + position.y * product.result.row + position.x;
  int sum = 0;
  for (uint i = 0; i < product.interior; ++i) sum += int(left[i * left_step]) * int(right[i * right_step]);
  sum *= int(product.alpha);
  *result = product.beta != 0 ? sum + int(product.beta) * *result : sum;
}

#define INTEGER_PRODUCT(T)                                                              \
  template [[host_name("integer_product_" #T)]] kernel void integer_product<T>(         \
      device const T*, device const T*, device int*, constant Product&, uint3);
INTEGER_PRODUCT(char)
INTEGER_PRODUCT(short)
