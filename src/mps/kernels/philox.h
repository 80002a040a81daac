// Philox 4x32-10: ten rounds of multiplications turn a counter and a key into four random numbers, so that any part of
// a sequence can be made at any time.
#pragma once

#include "types.h"

inline uint4 philox_numbers(ulong counter, ulong key) {
  uint4 c = uint4(uint(counter), uint(counter >> 32), 0, 0);
  uint2 k = uint2(uint(key), uint(key >> 32));
  for (uint round = 0; round < 10; ++round) {
    const uint low0 = 0xD2511F53u * c.x, high0 = mulhi(0xD2511F53u, c.x);
    const uint low1 = 0xCD9E8D57u * c.z, high1 = mulhi(0xCD9E8D57u, c.z);
    c = uint4(high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0);
    k += uint2(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}
