// Memory at the pace of CPUs' memory: what is larger than their caches is written past them, and asked for before it is
// needed.
#pragma once

#include "types.h"

// Past the caches if it `streams`: what is written once and not read soon. This is no constant of a function, because
// branches that do the same but for this become one.
template <bool streams, typename T>
void put(device T* place, T value) {
  if (streams)
    __builtin_nontemporal_store(value, place);
  else
    *place = value;
}

// Into the second cache. The place may be anywhere.
template <typename T>
void fetch_ahead(device const T* place) {
  __builtin_prefetch(place, 0, 2);
}
