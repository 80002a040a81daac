#include "llama/sampler.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "llama/rope_scaling.hpp"
#include "llama/stop_strings.hpp"

namespace metalloid::llama {
namespace {

std::map<int, double> shares(const SamplingOptions& options, const std::vector<float>& logits) {
  constexpr int rounds = 20000;
  Sampler sampler(options);
  std::map<int, double> counted;
  for (int i = 0; i < rounds; ++i) counted[sampler.choose(logits)] += 1.0 / rounds;
  return counted;
}

// 20000 draws have a standard deviation of at most 0.0036.
constexpr double tolerance = 0.018;

TEST(Sampler, greedy_takes_the_first_of_the_largest) {
  EXPECT_EQ(Sampler({}).choose({1, 3, 2, 3}), 1);
  EXPECT_EQ(Sampler({}).choose({-INFINITY, -5}), 1);
}

TEST(Sampler, draws_by_the_probabilities_of_the_temperature) {
  const std::vector<float> logits = {0, std::log(2.0f), -INFINITY, std::log(5.0f)};
  const auto at_one = shares({1, 0, 1, 1}, logits);
  EXPECT_NEAR(at_one.at(0), 1 / 8.0, tolerance);
  EXPECT_NEAR(at_one.at(1), 2 / 8.0, tolerance);
  EXPECT_NEAR(at_one.at(3), 5 / 8.0, tolerance);
  EXPECT_FALSE(at_one.contains(2));
  const auto at_half = shares({0.5f, 0, 1, 1}, logits);
  EXPECT_NEAR(at_half.at(1), 4 / 30.0, tolerance);
}

TEST(Sampler, top_k_and_top_p_leave_the_likeliest) {
  const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f)};
  const auto two = shares({1, 2, 1, 1}, logits);
  EXPECT_NEAR(two.at(1), 2 / 7.0, tolerance);
  EXPECT_FALSE(two.contains(0));
  const auto most = shares({1, 0, 0.6f, 1}, logits);  // 5 / 8 alone are enough
  EXPECT_EQ(most.size(), 1u);
  EXPECT_EQ(shares({1, 0, 0.65f, 1}, logits).size(), 2u);
  EXPECT_EQ(shares({1, 0, 0, 1}, logits).size(), 1u);
  EXPECT_EQ(shares({1, 100, 1, 1}, logits).size(), 3u);
}

TEST(Sampler, what_is_not_a_number_is_no_choice) {
  EXPECT_EQ(Sampler({}).choose({1, NAN}), -1);
  EXPECT_EQ(Sampler({1, 0, 1, 1}).choose({NAN, 1}), -1);
}

TEST(StopStrings, text_is_held_back_while_it_may_be_the_beginning_of_one) {
  StopStrings stop({"END", "\n\n", ""});
  EXPECT_EQ(stop.add("a E"), "a ");
  EXPECT_EQ(stop.add("N"), "");
  EXPECT_EQ(stop.add("T\n"), "ENT");
  EXPECT_EQ(stop.add("b"), "\nb");
  EXPECT_EQ(stop.add("cEN"), "c");
  EXPECT_FALSE(stop.is_found());
  EXPECT_EQ(stop.add("D more"), "");
  EXPECT_TRUE(stop.is_found());
  EXPECT_EQ(stop.rest(), "");
}

TEST(StopStrings, characters_come_whole) {
  StopStrings stop({});
  EXPECT_EQ(stop.add("a\xe2"), "a");
  EXPECT_EQ(stop.add("\x82"), "");
  EXPECT_EQ(stop.add("\xac!"), "\u20ac!");
  EXPECT_EQ(stop.add("\xf0\x9f"), "");
  EXPECT_EQ(stop.rest(), "\xf0\x9f");
}

TEST(RopeScaling, of_llama_3_slows_long_waves_only) {
  std::vector<float> frequencies = {1, 0.0015f, 0.0001f};  // 1304, 1.96 and 0.13 turns in 8192 tokens
  scale_as_llama3(frequencies, {8, 1, 4, 8192});
  EXPECT_EQ(frequencies[0], 1);
  const double turns = 8192 * 0.0015 / (2 * M_PI), smooth = (turns - 1) / 3;
  EXPECT_NEAR(frequencies[1], 0.0015 * (smooth + (1 - smooth) / 8), 1e-9);
  EXPECT_NEAR(frequencies[2], 0.0001 / 8, 1e-9);
  scale_linearly(frequencies, 4);
  EXPECT_EQ(frequencies[0], 0.25f);
}

}  // namespace
}  // namespace metalloid::llama
