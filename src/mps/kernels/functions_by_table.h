// Neurons' functions as 32 polynomials, each for a piece of what they are given. For processors that look a coefficient
// up in as little time as they multiply: 18 and 15 instructions for 16 numbers, and no division.
#pragma once

#include "types.h"

// Which of the numbers 0, 1, ... 31 is next to x, and how much further x is; from limit on, 31 and nothing. A NaN stays
// one, in some piece.
struct Piece {
  float rest;
  uint index;

  // 31 / limit is to be pieces_of_one.
  Piece(float x, float limit, float pieces_of_one) {
#pragma clang fp reassociate(off)
    constexpr float integers = 0x1.8p23f;  // floats near it are integers, in their low bits
    const float within = x > limit ? limit : x;
    const float rounded = fma(within, pieces_of_one, integers);
    rest = fma(within, pieces_of_one, integers - rounded);
    index = as_type<uint>(rounded) & 31;
  }
};

// Coefficients interpolate at Chebyshev's points of each piece. The first piece is exact at 0, and the last is what the
// function tends to.
// clang-format off
constant float tanh_coefficients_0[32] = {
    0, 0x1.2135c4p-2f, 0x1.0bd83ep-1f, 0x1.675aeap-1f, 0x1.a49666p-1f, 0x1.cac2p-1f,
    0x1.e182c2p-1f, 0x1.eeb6a4p-1f, 0x1.f6414cp-1f, 0x1.fa863ep-1f, 0x1.fceddp-1f, 0x1.fe4784p-1f,
    0x1.ff095ap-1f, 0x1.ff75eep-1f, 0x1.ffb2bap-1f, 0x1.ffd4c2p-1f, 0x1.ffe7cep-1f, 0x1.fff276p-1f,
    0x1.fff86cp-1f, 0x1.fffbc2p-1f, 0x1.fffdap-1f, 0x1.fffeacp-1f, 0x1.ffff42p-1f, 0x1.ffff96p-1f,
    0x1.ffffc4p-1f, 0x1.ffffdep-1f, 0x1.ffffeep-1f, 0x1.fffff6p-1f, 0x1.fffffap-1f, 0x1.fffffcp-1f,
    0x1.fffffep-1f, 1};
constant float tanh_coefficients_1[32] = {
    0x1.294a52p-2f, 0x1.11938p-2f, 0x1.afdcb4p-3f, 0x1.2dae64p-3f, 0x1.82b83p-4f, 0x1.d4eb38p-5f,
    0x1.12d232p-5f, 0x1.3bc602p-6f, 0x1.66b038p-7f, 0x1.94c90cp-8f, 0x1.c72058p-9f, 0x1.feab26p-10f,
    0x1.1e2958p-10f, 0x1.40806cp-11f, 0x1.66d4eap-12f, 0x1.91a9e8p-13f, 0x1.c18e94p-14f, 0x1.f720eep-15f,
    0x1.198832p-15f, 0x1.3b1036p-16f, 0x1.609598p-17f, 0x1.8a9242p-18f, 0x1.b98e82p-19f, 0x1.ee22d6p-20f,
    0x1.147ce8p-20f, 0x1.35692cp-21f, 0x1.5a4102p-22f, 0x1.837beap-23f, 0x1.b19fa2p-24f, 0x1.e541d4p-25f,
    0x1.0f84fcp-25f, 0};
constant float tanh_coefficients_2[32] = {
    0, -0x1.66e422p-6f, -0x1.065ae8p-5f, -0x1.ebc966p-6f, -0x1.70eb24p-6f, -0x1.e7edfep-7f,
    -0x1.2c24cp-7f, -0x1.6252c2p-8f, -0x1.989c74p-9f, -0x1.d10ae2p-10f, -0x1.06adecp-10f, -0x1.27848ep-11f,
    -0x1.4bb012p-12f, -0x1.73cca6p-13f, -0x1.a07522p-14f, -0x1.d24a06p-15f, -0x1.04fb64p-15f, -0x1.241b14p-16f,
    -0x1.46eafap-17f, -0x1.6ddd36p-18f, -0x1.9970dcp-19f, -0x1.ca33bep-20f, -0x1.00622ap-20f, -0x1.1ee9e2p-21f,
    -0x1.41142p-22f, -0x1.674fbcp-23f, -0x1.9218bep-24f, -0x1.c1f9fp-25f, -0x1.f78ea2p-26f, -0x1.19c24ep-26f,
    -0x1.3b4f34p-27f, 0};
constant float tanh_coefficients_3[32] = {
    -0x1.0b47cep-7f, -0x1.76341ap-8f, -0x1.1609dep-10f, 0x1.033414p-9f, 0x1.642afcp-9f, 0x1.28e898p-9f,
    0x1.988384p-10f, 0x1.ff43p-11f, 0x1.303ecep-11f, 0x1.60503ap-12f, 0x1.91d862p-13f, 0x1.c6802cp-14f,
    0x1.ffa684p-15f, 0x1.1f3d6cp-15f, 0x1.420a64p-16f, 0x1.68c31ap-17f, 0x1.93f45ap-18f, 0x1.c433c6p-19f,
    0x1.fa23ep-20f, 0x1.1b3bacp-20f, 0x1.3cfa1cp-21f, 0x1.62bb72p-22f, 0x1.8cfa94p-23f, 0x1.bc40dap-24f,
    0x1.f127c6p-25f, 0x1.162d82p-25f, 0x1.374d6p-26f, 0x1.5c5ee4p-27f, 0x1.85da64p-28f, 0x1.b4466p-29f,
    0x1.e838fp-30f, 0};
constant float tanh_coefficients_4[32] = {
    0, 0x1.17de6ep-10f, 0x1.142294p-10f, 0x1.d0ba5cp-12f, -0x1.801e58p-17f, -0x1.626434p-13f,
    -0x1.5f9c42p-13f, -0x1.fe8046p-14f, -0x1.4688fcp-14f, -0x1.88a344p-15f, -0x1.c9073ep-16f, -0x1.055a56p-16f,
    -0x1.28091ap-17f, -0x1.4d87ap-18f, -0x1.76a78ap-19f, -0x1.a4269p-20f, -0x1.d6bbf6p-21f, -0x1.079126p-21f,
    -0x1.270f54p-22f, -0x1.4a431ap-23f, -0x1.71a16ap-24f, -0x1.9dabb6p-25f, -0x1.cef1f4p-26f, -0x1.030a32p-26f,
    -0x1.21e354p-27f, -0x1.44686ep-28f, -0x1.6b09eep-29f, -0x1.964416p-30f, -0x1.c6a408p-31f, -0x1.fcc49cp-32f,
    -0x1.1ca4ecp-32f, 0};
constant float tanh_coefficients_5[32] = {
    0x1.1dec7cp-12f, 0x1.dba73cp-14f, -0x1.92d854p-14f, -0x1.fcbc6cp-14f, -0x1.e668b8p-15f, -0x1.5e029ap-17f,
    0x1.e93472p-18f, 0x1.469f62p-17f, 0x1.fa64ccp-18f, 0x1.4bc2a2p-18f, 0x1.932efap-19f, 0x1.d7c2a4p-20f,
    0x1.0e82cp-20f, 0x1.32db08p-21f, 0x1.59feeap-22f, 0x1.84d41cp-23f, 0x1.b42714p-24f, 0x1.e8bab4p-25f,
    0x1.11a9cep-25f, 0x1.32603p-26f, 0x1.56efcep-27f, 0x1.7fd234p-28f, 0x1.ad8efcp-29f, 0x1.e0ba08p-30f,
    0x1.0cfd5p-30f, 0x1.2d0a8ap-31f, 0x1.50e29ap-32f, 0x1.790818p-33f, 0x1.a5df14p-34f, 0x1.d8215ap-35f,
    0x1.088af2p-35f, 0};
constant float tail_coefficients_0[32] = {
    0, 0x1.4f8daap-4f, 0x1.14f316p-3f, 0x1.4dd84cp-3f, 0x1.5be1dcp-3f, 0x1.4a29fap-3f,
    0x1.23f7acp-3f, 0x1.e6e01ap-4f, 0x1.81617p-4f, 0x1.22d202p-4f, 0x1.a39f76p-5f, 0x1.21f896p-5f,
    0x1.805e7ep-6f, 0x1.e9220ap-7f, 0x1.2aff3p-7f, 0x1.5f5d34p-8f, 0x1.8d0ca6p-9f, 0x1.af950cp-10f,
    0x1.c35b6ap-11f, 0x1.c640f8p-12f, 0x1.b80348p-13f, 0x1.9a4648p-14f, 0x1.7045f4p-15f, 0x1.3e43bp-16f,
    0x1.08d30ap-17f, 0x1.a85c2ap-19f, 0x1.47664ep-20f, 0x1.e67b4cp-22f, 0x1.5c0f5p-23f, 0x1.dfa324p-25f,
    0x1.3e44d6p-26f, 0};
constant float tail_coefficients_1[32] = {
    0x1.8c6318p-4f, 0x1.1379cap-4f, 0x1.46b832p-5f, 0x1.0da4eap-6f, -0x1.e084fcp-10f, -0x1.dc7bdcp-7f,
    -0x1.674084p-6f, -0x1.965986p-6f, -0x1.8e09e8p-6f, -0x1.621676p-6f, -0x1.244e96p-6f, -0x1.c51806p-7f,
    -0x1.4bfc44p-7f, -0x1.cdff3cp-8f, -0x1.3234eep-8f, -0x1.837aa2p-9f, -0x1.d4d0d8p-10f, -0x1.0f801ap-10f,
    -0x1.2d502ap-11f, -0x1.40a70ep-12f, -0x1.476616p-13f, -0x1.40e37p-14f, -0x1.2e0596p-15f, -0x1.1111e4p-16f,
    -0x1.da7936p-18f, -0x1.8c2eecp-19f, -0x1.3e035ep-20f, -0x1.eade7p-22f, -0x1.6c4ddep-23f, -0x1.04089cp-24f,
    -0x1.650fc2p-26f, 0};
constant float tail_coefficients_2[32] = {
    -0x1.e9b5dp-7f, -0x1.d79ed4p-7f, -0x1.a451bp-7f, -0x1.57fe98p-7f, -0x1.fc493ap-8f, -0x1.46107ep-8f,
    -0x1.45120cp-9f, -0x1.01430ep-11f, 0x1.d5a148p-11f, 0x1.bc638cp-10f, 0x1.06c638p-9f, 0x1.013586p-9f,
    0x1.c01c52p-10f, 0x1.65f6e2p-10f, 0x1.0a4b2ep-10f, 0x1.744a26p-11f, 0x1.ebe0dap-12f, 0x1.34488p-12f,
    0x1.6fa346p-13f, 0x1.a1f40ap-14f, 0x1.c5ae38p-15f, 0x1.d6c744p-16f, 0x1.d376fap-17f, 0x1.bc84aep-18f,
    0x1.950fbcp-19f, 0x1.61e5e8p-20f, 0x1.2897b2p-21f, 0x1.dd0d8ep-23f, 0x1.7048bcp-24f, 0x1.11008ap-25f,
    0x1.84bcb4p-27f, 0};
constant float tail_coefficients_3[32] = {
    0x1.c906f6p-25f, 0x1.7b8394p-12f, 0x1.5ca3ap-11f, 0x1.c51fb8p-11f, 0x1.ec1f68p-11f, 0x1.d460a8p-11f,
    0x1.8c16b4p-11f, 0x1.27eeccp-11f, 0x1.7a9facp-12f, 0x1.7665f4p-13f, 0x1.37d062p-15f, -0x1.d5b812p-15f,
    -0x1.b7108ap-14f, -0x1.f2ef2cp-14f, -0x1.d146ap-14f, -0x1.801d56p-14f, -0x1.21a554p-14f, -0x1.95764ap-15f,
    -0x1.09edp-15f, -0x1.48d9f8p-16f, -0x1.80fd32p-17f, -0x1.abf6e4p-18f, -0x1.c4bd82p-19f, -0x1.c89556p-20f,
    -0x1.b78d26p-21f, -0x1.9461cep-22f, -0x1.63d71p-23f, -0x1.2bb94p-24f, -0x1.e39b0ep-26f, -0x1.75e248p-27f,
    -0x1.15219p-28f, 0};
constant float tail_coefficients_4[32] = {
    0x1.866fp-14f, 0x1.667324p-14f, 0x1.0d8d5ep-14f, 0x1.21bff8p-15f, 0x1.81fb62p-19f, -0x1.99b84p-16f,
    -0x1.6820d4p-15f, -0x1.ab6a8p-15f, -0x1.9e83e4p-15f, -0x1.587bb6p-15f, -0x1.ec7082p-16f, -0x1.23d856p-16f,
    -0x1.ede5bep-18f, -0x1.1b7444p-22f, 0x1.01c244p-18f, 0x1.72149ap-18f, 0x1.74ca2cp-18f, 0x1.3cc8ap-18f,
    0x1.e0dcb8p-19f, 0x1.4e7018p-19f, 0x1.b043cep-20f, 0x1.05c9d2p-20f, 0x1.2ad2ap-21f, 0x1.42b6d4p-22f,
    0x1.4aaf88p-23f, 0x1.4238e6p-24f, 0x1.2b132ap-25f, 0x1.08c6ecp-26f, 0x1.bfae4cp-28f, 0x1.69ba8ap-29f,
    0x1.17917p-30f, 0};
// clang-format on

// The highest power's coefficient first, and then tables of the others.
inline float polynomial_of_piece(Piece, float y) {
  return y;
}
template <typename... Lower>
float polynomial_of_piece(Piece at, float y, constant float* next, Lower... lower) {
  return polynomial_of_piece(at, fma(y, at.rest, next[at.index]), lower...);
}

// a * tanh(b * x) within 3 units in the last place.
inline float hyperbolic_tangent_by_table(float x, float a, float b) {
  constexpr float limit = 9;
  const Piece at(abs(x), limit / abs(b), 31 / limit * abs(b));
  const float y = polynomial_of_piece(at, tanh_coefficients_5[at.index], tanh_coefficients_4, tanh_coefficients_3,
                                      tanh_coefficients_2, tanh_coefficients_1, tanh_coefficients_0);
  return copysign(y, x) * (b < 0 ? -a : a);
}

// x times the part of a normal distribution that is below x. Of a positive x what is above is missing, a negative one has
// no other: within 2^-26, and a unit in the last place.
inline float gelu_by_table(float x) {
  constexpr float limit = 6;
  const Piece at(abs(x), limit, 31 / limit);
  const float tail = polynomial_of_piece(at, tail_coefficients_4[at.index], tail_coefficients_3, tail_coefficients_2,
                                         tail_coefficients_1, tail_coefficients_0);
  return (x > 0 ? x : 0) - tail;
}
