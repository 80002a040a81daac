// Queries are [tokens][heads][size], keys and values [length][kv heads][size]; heads share keys in groups.
#pragma once

#include "numbers.h"

struct Attention {
  uint tokens, heads, kv_heads, size;
  uint position;  // of the first token; it looks at as many before it
  float scale;
};

inline uint kv_head_of(constant Attention& shape, uint head) {
  return head / (shape.heads / shape.kv_heads);
}
