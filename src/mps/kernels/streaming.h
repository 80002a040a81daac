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

// What lies so far behind numbers that are read one after the other, into the nearest cache: processors that look ahead
// themselves stop at the end of a page, and work that takes longer than reading keeps them from starting again in time.
template <bool streams, typename T>
void fetch_stream(device const T* place) {
  constexpr uint bytes_ahead = 8192;
  if (streams) __builtin_prefetch(place + bytes_ahead / sizeof(T), 0, 3);
}

// Into the nearest cache, or the second. The place may be anywhere.
template <bool near = false, typename T>
void fetch_ahead(device const T* place) {
  __builtin_prefetch(place, 0, near ? 3 : 2);
}
