// Numbers that no float is close enough to: a float, and what it lacks.
#pragma once

namespace metalloid::builtins {

constexpr float ln_2 = 0x1.62e43p-1f, ln_2_rest = -0x1.05c61p-29f;
constexpr float log2_e = 0x1.715476p+0f, log2_e_rest = 0x1.4ae0cp-26f;
constexpr float log10_e = 0x1.bcb7b2p-2f, log10_e_rest = -0x1.5b235ep-27f;
constexpr float log10_2 = 0x1.344136p-2f, log10_2_rest = -0x1.ec10cp-27f;
constexpr float log2_10 = 0x1.a934fp+1f;
constexpr float half_pi = 0x1.921fb6p+0f, half_pi_rest = -0x1.777a5cp-25f;
constexpr float inverse_pi = 0x1.45f306p-2f;

// pi as the sum of three floats that are all positive, so that multiplying a zero by them keeps its sign.
constexpr float pi_high = 0x1.921fb4p+1f, pi_middle = 0x1.4442dp-23f, pi_low = 0x1.846988p-47f;

}  // namespace metalloid::builtins
