// Work that a caller does not wait for: the asynchronous ways to make libraries, functions and pipelines.
#pragma once

#include <functional>

namespace metalloid::metal {

// Runs on a thread of its own pool, with an autorelease pool around it. Work still queued when the process ends is
// dropped, as on a Mac.
void in_background(std::function<void()> work);

}  // namespace metalloid::metal
