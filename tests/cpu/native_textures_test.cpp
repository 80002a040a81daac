// The native code that accesses textures for all lanes of a group gives what the builtins' bodies give lane by lane:
// for every builtin, on each kind of processor that this machine can run, with random textures, samplers and operands.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "../builtins/invoke.hpp"
#include "../builtins/test_texture.hpp"
#include "cpu/textures/native_functions.hpp"
#include "device/sampler.hpp"

namespace metalloid::cpu {
namespace {

using namespace builtins;
using textures::TextureFunction;

using Random = std::mt19937;

constexpr unsigned lanes = 32;

unsigned below(Random& random, unsigned limit) {
  return static_cast<unsigned>(random() % limit);
}
bool one_in(Random& random, unsigned n) {
  return below(random, n) == 0;
}

// "metal.texture_2d_array_sample_compare.f32"
struct Name {
  std::string kind, operation, element;

  explicit Name(const std::string& builtin) {
    static const std::regex parts(
        R"(metal\.(texture_(?:1d|2d|3d|cube|buffer)(?:_ms)?(?:_array)?)_([a-z_]+)\.([fiu]\d+))");
    std::smatch match;
    if (!std::regex_match(builtin, match, parts)) throw std::runtime_error("no texture's builtin: " + builtin);
    kind = match[1], operation = match[2], element = match[3];
  }
};

// An operand behind the texture and the sampler, a word each; four for a color.
enum class Operand { color, texel, slice, level, coordinate, offset, lod, value, gradient, component };

std::vector<Operand> operands_of(const std::string& operation) {
  using enum Operand;
  std::vector<Operand> operands;
  const auto add = [&](unsigned count, Operand operand) { operands.insert(operands.end(), count, operand); };
  if (operation == "write") add(1, color);
  if (operation == "read" || operation == "write") {
    add(3, texel), add(1, slice), add(1, level);
    return operands;
  }
  add(3, coordinate), add(1, slice);
  if (operation.find("compare") != std::string::npos) add(1, value);
  add(3, offset);
  if (operation.ends_with("gradient")) add(6, gradient), add(1, lod);
  if (operation == "sample" || operation == "sample_compare") add(2, lod);
  if (operation == "gather") add(1, component);
  return operands;
}

template <class T>
uint32_t word(T value) {
  return std::bit_cast<uint32_t>(value);
}

float special(Random& random) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {0, -0.0f, 1, 0.5f, -1, 1e-40f, 1e9f, -1e9f, 3e38f, infinity, -infinity, std::nanf("")};
  return values[below(random, std::size(values))];
}

float between(Random& random, float least, float most) {
  return std::uniform_real_distribution<float>(least, most)(random);
}

uint32_t random_word(Random& random, Operand operand, const std::string& element, bool pixels) {
  switch (operand) {
    case Operand::color:
      if (element != "f32") return one_in(random, 2) ? below(random, 300) : static_cast<uint32_t>(random());
      return word(one_in(random, 4) ? special(random) : between(random, -0.5f, 1.5f));
    case Operand::texel:
      return one_in(random, 8) ? static_cast<uint32_t>(random()) : below(random, 12);
    case Operand::slice:
      return one_in(random, 8) ? static_cast<uint32_t>(random()) : below(random, 4);
    case Operand::level:
      return below(random, 4);
    case Operand::coordinate:
      if (one_in(random, 8)) return word(special(random));
      if (one_in(random, 4)) return word(static_cast<float>(below(random, 16)) / (pixels ? 2.0f : 16.0f));
      return word(pixels ? between(random, -4, 16) : between(random, -1.5f, 2.5f));
    case Operand::offset:
      return word(static_cast<int>(below(random, 16)) - 8);
    case Operand::lod:
      return word(one_in(random, 2) ? 0 : one_in(random, 8) ? special(random) : between(random, -1, 4));
    case Operand::value:
      return word(one_in(random, 4) ? special(random) : between(random, 0, 1));
    case Operand::gradient:
      return word(one_in(random, 8) ? special(random) : between(random, -0.5f, 0.5f));
    case Operand::component:
      return below(random, 5);
  }
  return 0;
}

Shape random_shape(Random& random, const std::string& kind) {
  const auto size = [&] { return 1 + below(random, 11); };
  const unsigned slices = kind.ends_with("_array") ? 1 + below(random, 3) : 1, levels = 1 + below(random, 3);
  if (kind.starts_with("texture_1d")) return {Form::line, size(), 1, 1, slices, levels};
  if (kind == "texture_buffer") return {Form::line, size()};
  if (kind.starts_with("texture_2d_ms")) return {Form::multisample, size(), size(), 1, slices, 1, 1 + below(random, 4)};
  if (kind.starts_with("texture_2d")) return {Form::plane, size(), size(), 1, slices, levels};
  if (kind == "texture_3d") return {Form::volume, size(), size(), size(), 1, levels};
  const unsigned edge = size();
  return {Form::cube, edge, edge, 1, 6 * slices, levels};
}

unsigned random_format(Random& random) {
  const unsigned common[] = {10, 25, 30, 55, 65, 70, 80, 105, 115, 125};
  if (one_in(random, 2)) return common[below(random, std::size(common))];
  return device::pixel_formats[below(random, std::size(device::pixel_formats))].code;
}

TestTexture random_texture(Random& random, const std::string& kind) {
  TestTexture texture(random_format(random), random_shape(random, kind));
  const unsigned bytes = texture.description().bytes_per_texel;
  texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned level) {
    for (unsigned sample = 0; sample < texture.description().samples; ++sample)
      for (unsigned i = 0; i < bytes; ++i)
        texture.texel(x, y, image, level, sample)[i] = static_cast<unsigned char>(random());
  });
  if (one_in(random, 3))
    for (unsigned char& channel : texture.description().swizzle) channel = static_cast<unsigned char>(random() % 6);
  return texture;
}

device::Sampler random_sampler(Random& random) {
  const auto choose = [&]<class Choice>(Choice& choice, unsigned count) {
    choice = static_cast<Choice>(below(random, count));
  };
  device::Sampler sampler;
  for (device::AddressMode& mode : sampler.address) choose(mode, 6);
  sampler.pixel_coordinates = one_in(random, 3);
  choose(sampler.magnification, 3);
  sampler.minification = sampler.magnification;
  if (one_in(random, 3)) choose(sampler.minification, 3);
  if (one_in(random, 2)) choose(sampler.mip, 3);
  choose(sampler.compare, 8);
  choose(sampler.border, 3);
  if (one_in(random, 4)) choose(sampler.reduction, 3);
  if (one_in(random, 4)) sampler.min_level = between(random, 0, 2);
  return sampler;
}

bool same(const std::string& element, uint32_t a, uint32_t b) {
  return a == b || (element == "f32" && std::isnan(std::bit_cast<float>(a)) && std::isnan(std::bit_cast<float>(b)));
}

// What a group of lanes gets from native code and, lane after lane, from the builtin's body.
class Comparison {
 public:
  explicit Comparison(const TextureFunction& function)
      : function_(function), name_(function.builtin), operands_(operands_of(name_.operation)) {}

  void run(Random& random) const {
    TestTexture texture = random_texture(random, name_.kind), twin = texture;
    const device::Sampler sampler = random_sampler(random);
    const unsigned masks[] = {1, 0xFF, 0xFFFF, ~0u, ~0u, static_cast<unsigned>(random()), 1u << below(random, 32), 0};
    const unsigned mask = masks[below(random, std::size(masks))];
    const uint64_t state = device::pack(sampler), handle = one_in(random, 50) ? 0 : texture.handle();
    const std::vector<uint32_t> words = random_words(random, sampler.pixel_coordinates);

    constexpr uint32_t untouched = 0xABABABAB;
    std::vector<uint32_t> results(4 * lanes + 8, untouched);
    function_.body(handle, has_sampler() ? state : 0, words.data(), results.data(), mask);

    for (unsigned lane = 0; lane < lanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const std::array<uint32_t, 4> expected = of_body(handle == 0 ? 0 : twin.handle(), state, words, lane);
      for (unsigned i = 0; i < count_results(); ++i)
        ASSERT_TRUE(same(name_.element, results[i * lanes + lane], expected[i]))
            << function_.builtin << ", format " << texture.description().pixel_format << ", lane " << lane
            << ", result " << i << ": " << results[i * lanes + lane] << " for " << expected[i];
    }
    for (size_t i = count_results() * lanes; i < results.size(); ++i) ASSERT_EQ(results[i], untouched);
    ASSERT_EQ(texture, twin) << function_.builtin << ", format " << texture.description().pixel_format;
  }

 private:
  bool has_sampler() const { return name_.operation != "read" && name_.operation != "write"; }
  unsigned count_results() const {
    return name_.operation == "write" ? 0 : name_.operation.starts_with("sample_compare") ? 1 : 4;
  }

  std::vector<uint32_t> random_words(Random& random, bool pixels) const {
    std::vector<uint32_t> words;
    for (const Operand operand : operands_)
      for (unsigned i = 0; i < (operand == Operand::color ? 4 : 1); ++i) {
        const bool alike = operand == Operand::level ? !one_in(random, 3) : one_in(random, 8);
        const uint32_t first = random_word(random, operand, name_.element, pixels);
        for (unsigned lane = 0; lane < lanes; ++lane)
          words.push_back(alike ? first : random_word(random, operand, name_.element, pixels));
      }
    return words;
  }

  std::array<uint32_t, 4> of_body(uint64_t handle, uint64_t state, const std::vector<uint32_t>& words,
                                  unsigned lane) const {
    std::vector<Slot> slots = {slot_of(handle)};
    if (has_sampler()) slots.push_back(slot_of(state));
    unsigned row = 0;
    const auto next = [&] { return words[row++ * lanes + lane]; };
    for (const Operand operand : operands_)
      if (operand == Operand::color)
        slots.push_back(slot_of(std::array<uint32_t, 4>{next(), next(), next(), next()}));
      else
        slots.push_back(slot_of(next()));
    Slot result = {};
    invocation(function_.builtin, slots.size())(slots.data(), &result);
    std::array<uint32_t, 4> value;
    std::memcpy(value.data(), result.data(), sizeof value);
    return value;
  }

  const TextureFunction& function_;
  const Name name_;
  const std::vector<Operand> operands_;
};

TEST(NativeTextures, GiveWhatBodiesGive) {
  for (const textures::TextureFunctions& functions : textures::native_functions()) {
    ASSERT_GT(functions.count, 0u);
    for (unsigned i = 0; i < functions.count; ++i) {
      const Comparison comparison(functions.first[i]);
      for (unsigned seed = 0; seed < 300 && !testing::Test::HasFatalFailure(); ++seed) {
        Random random(seed * 1000 + i);
        comparison.run(random);
      }
    }
  }
}

}  // namespace
}  // namespace metalloid::cpu
