// Pixels without the channels that only fill them up, and back, by the threads that oneDNN works with.
#pragma once

#include <cstddef>

namespace metalloid::mps::cpu {

// Of `channels` numbers each in `packed`, and with room for `stored` of them in the other; what is not there is left.
struct Pixels {
  size_t count, channels, stored;
};
void pack(const float* stored, float* packed, const Pixels& pixels);
void unpack(const float* packed, float* stored, const Pixels& pixels);

}  // namespace metalloid::mps::cpu
