// Random kernels: the same for the same seed, right on both engines, and reduced when they are not.
#include "differ/campaign.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

namespace metalloid::differ {
namespace {

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

TEST(Campaign, ASeedAlwaysGivesTheSameKernel) {
  EXPECT_EQ(source_of(random_program(7)), source_of(random_program(7)));
  EXPECT_NE(source_of(random_program(7)), source_of(random_program(8)));
}

TEST(Campaign, KernelsHaveEveryConstruct) {
  std::string all;
  for (uint64_t seed = 0; seed < 200; ++seed) all += source_of(random_program(seed));
  for (const char* part : {"if (",
                           "} else {",
                           "switch (",
                           "for (",
                           "while (",
                           "do {",
                           "break;",
                           "continue;",
                           "return;",
                           "threadgroup_barrier",
                           "simd_sum(",
                           "simd_shuffle(",
                           "quad_",
                           "simd_ballot(",
                           "atomic_fetch_add",
                           "helper0(",
                           "a[",
                           "p[",
                           "q[",
                           "half(",
                           "ulong(",
                           "short(",
                           "uchar("})
    EXPECT_NE(all.find(part), std::string::npos) << part;
}

TEST(Campaign, SimplerProgramsAreOneStepAway) {
  const Program program = random_program(3);
  const size_t size = source_of(program).size();
  const auto candidates = simpler(program);
  ASSERT_GT(candidates.size(), 50u);
  EXPECT_LT(source_of(candidates.front()).size(), size);
}

TEST(Campaign, EnginesAgreeOnRandomKernels) {
  Campaign campaign;
  campaign.first_seed = 1000;
  campaign.count = 8;
  uint64_t kernels = 0;
  campaign.at_kernel = [&](uint64_t) { ++kernels; };
  for (const Finding& finding : campaign.run())
    ADD_FAILURE() << "seed " << finding.seed << ": " << finding.what << "\n" << source_of(finding.program);
  EXPECT_EQ(kernels, 8u);
}

TEST(Campaign, APlantedDifferenceIsFoundAndReduced) {
  Campaign campaign;
  campaign.engines = {{"reference", 0}};
  campaign.first_seed = 533;
  campaign.count = 1;
  campaign.most_findings = 1;
  campaign.patience = std::chrono::minutes(10);
  campaign.disguise = [](std::string source) {
    for (size_t at = source.find("reverse_bits("); at != std::string::npos; at = source.find("reverse_bits(", at))
      source.replace(at, 12, "popcount");
    return source;
  };
  const auto findings = campaign.run();
  ASSERT_EQ(findings.size(), 1u);
  const std::string source = source_of(findings[0].program);
  EXPECT_NE(source.find("reverse_bits("), std::string::npos) << source;
  EXPECT_NE(findings[0].what.find("differs"), std::string::npos) << findings[0].what;
  EXPECT_LT(2 * lines_of(source), lines_of(source_of(random_program(findings[0].seed)))) << source;
}

TEST(Campaign, AKernelThatKillsItsProcessIsFound) {
  Campaign campaign;
  campaign.engines = {{"reference", 0}};
  campaign.count = 3;
  campaign.most_findings = 1;
  campaign.patience = std::chrono::seconds(0);
  campaign.disguise = [](std::string) -> std::string {
    raise(SIGKILL);
    return "";
  };
  const auto findings = campaign.run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].what.find("Killed"), std::string::npos) << findings[0].what;
}

}  // namespace
}  // namespace metalloid::differ
