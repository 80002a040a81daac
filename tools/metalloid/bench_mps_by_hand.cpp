// This file alone is compiled for AVX-512. Four vectors at a time hide the latency of one; what is read is asked for
// ahead, and results go past the caches.
#include "bench_mps_by_hand.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace metalloid::tool {

#if defined(__AVX512F__)
namespace {

using Vector = __m512;

inline Vector all(float x) {
  return _mm512_set1_ps(x);
}
// The highest power's coefficient first.
inline Vector polynomial(Vector, Vector c) {
  return c;
}
template <class... Lower>
Vector polynomial(Vector x, Vector c, float next, Lower... lower) {
  return polynomial(x, _mm512_fmadd_ps(c, x, all(next)), lower...);
}
inline Vector within(Vector x, float limit) {
  return _mm512_max_ps(_mm512_min_ps(x, all(limit)), all(-limit));
}

struct Power {
  Vector rest, rounded;

  explicit Power(Vector x) {
    const Vector integers = all(0x1.8p23f);  // floats near it are integers
    rounded = _mm512_sub_ps(_mm512_fmadd_ps(x, all(1.442695041f), integers), integers);
    rest = _mm512_fmsub_ps(x, all(1.442695041f), rounded);
  }
};

struct Sigmoid {
  static Vector of(Vector x) {
    const Power power(within(_mm512_sub_ps(all(0), x), 88));
    const Vector fraction = polynomial(power.rest, all(0x1.5cd77ap-10f), 0x1.3cf732p-7f, 0x1.c6b576p-5f, 0x1.ebf99cp-3f,
                                       0x1.62e42ap-1f, 1.0f);
    return _mm512_div_ps(all(1), _mm512_add_ps(all(1), _mm512_scalef_ps(fraction, power.rounded)));
  }
};

struct Tanh {
  static Vector of(Vector number) {
    const Vector x = _mm512_mul_ps(number, all(0.25f)), s = _mm512_min_ps(_mm512_mul_ps(x, x), all(62.41f));
    const Vector above = polynomial(s, all(0x1.090bfcp-26f), 0x1.717c78p-16f, 0x1.d51abep-9f, 0x1.1377f4p-3f, 1.0f);
    const Vector below = polynomial(s, all(0x1.cda38ap-21f), 0x1.66fe86p-12f, 0x1.ad221p-6f, 0x1.df114cp-2f, 1.0f);
    return _mm512_mul_ps(all(0.5f), within(_mm512_div_ps(_mm512_mul_ps(x, above), below), 1));
  }
};

struct Elu {
  static Vector of(Vector x) {
    const Power power(_mm512_max_ps(x, all(-87)));
    const Vector fraction =
        _mm512_mul_ps(power.rest, polynomial(power.rest, all(0x1.4309p-13f), 0x1.5f07b4p-10f, 0x1.3b2bap-7f,
                                             0x1.c6af6ep-5f, 0x1.ebfbdep-3f, 0x1.62e43p-1f));
    const Vector power_of_two = _mm512_scalef_ps(all(1), power.rounded);
    const Vector below = _mm512_fmadd_ps(fraction, power_of_two, _mm512_sub_ps(power_of_two, all(1)));
    return _mm512_mask_mul_ps(x, _mm512_cmp_ps_mask(x, all(0), _CMP_LT_OQ), below, all(0.5f));
  }
};

struct Gelu {
  static Vector of(Vector x) {
    const Vector s = _mm512_min_ps(_mm512_mul_ps(x, x), all(28.09f));
    const Vector above =
        polynomial(s, all(0x1.a469e8p-18f), 0x1.6635cp-12f, 0x1.75837p-8f, 0x1.aa8e7ap-5f, 0x1.988434p-2f);
    const Vector below =
        polynomial(s, all(0x1.1c70f6p-21f), 0x1.00f72cp-13f, 0x1.77514p-9f, 0x1.3e174p-5f, 0x1.304fbep-2f, 1.0f);
    const Vector half = within(_mm512_div_ps(_mm512_mul_ps(x, above), below), 0.5f);
    return _mm512_mul_ps(x, _mm512_add_ps(all(0.5f), half));
  }
};

template <class Neuron>
void run(const float* in, float* out, size_t count) {
  constexpr size_t ahead = 2048;
  for (size_t i = 0; i < count; i += 64)
    for (size_t k = 0; k < 64; k += 16) {
      _mm_prefetch(reinterpret_cast<const char*>(in + i + k + ahead), _MM_HINT_T0);
      _mm512_stream_ps(out + i + k, Neuron::of(_mm512_load_ps(in + i + k)));
    }
  _mm_sfence();
}

}  // namespace

HandNeurons hand_neurons() {
  return {run<Sigmoid>, run<Tanh>, run<Elu>, run<Gelu>};
}
#else
HandNeurons hand_neurons() {
  return {};
}
#endif

}  // namespace metalloid::tool
