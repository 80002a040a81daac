// Messages of os_log: what printf would print, of arguments in slots, whatever the format.
#include "device/log_format.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

namespace metalloid::device {
namespace {

uint64_t slot(float value) {
  return std::bit_cast<uint32_t>(value);
}
uint64_t slot(int64_t value) {
  return static_cast<uint64_t>(value);
}
uint64_t slot(int value) {
  return static_cast<uint64_t>(int64_t{value});
}
uint64_t slot(uint32_t value) {
  return value;
}
uint64_t slot(uint64_t value) {
  return value;
}
uint64_t slot(const char* value) {
  return reinterpret_cast<uint64_t>(value);
}

template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  // Exactly as large as it says, so that a sanitizer sees a slot too many.
  const std::vector<uint64_t> slots = {slot(arguments)...};
  return format_log(format, slots.data(), static_cast<uint32_t>(slots.size() * 8));
}

TEST(LogFormat, PrintsNumbersAsPrintfDoes) {
  EXPECT_EQ(formatted("plain"), "plain");
  EXPECT_EQ(formatted("%d and %i", -5, 7), "-5 and 7");
  EXPECT_EQ(formatted("%u", -1), "4294967295");
  EXPECT_EQ(formatted("%d", 0xFFFFFFFFu), "-1");
  EXPECT_EQ(formatted("%ld %lld", int64_t{-1} << 40, int64_t{1} << 40), "-1099511627776 1099511627776");
  EXPECT_EQ(formatted("%lu", ~uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(formatted("%hd %hhd %hu", 65535, 255, -1), "-1 -1 65535");
  EXPECT_EQ(formatted("%#x %X %o", 255, 255, 8), "0xff FF 10");
  EXPECT_EQ(formatted("%x", -1), "ffffffff");
  EXPECT_EQ(formatted("[%5d] [%-5d] [%05d] [%+d] [% d]", 42, 42, 42, 42, 42), "[   42] [42   ] [00042] [+42] [ 42]");
  EXPECT_EQ(formatted("%f %.2f %8.3f|%-8.1f|%e", 1.5f, 1.25f, 3.14159f, 2.0f, 1024.0f),
            "1.500000 1.25    3.142|2.0     |1.024000e+03");
  EXPECT_EQ(formatted("%g %G %a", 0.5f, 1e10f, 1.0f), "0.5 1E+10 0x1p+0");
  EXPECT_EQ(formatted("%c%c", 'o', 'k'), "ok");
  EXPECT_EQ(formatted("100%%"), "100%");
  EXPECT_EQ(formatted("%p", uint64_t{0xABC0}), "0xabc0");
  EXPECT_EQ(formatted("%*d|%-*d|%.*f", 5, 42, 5, 42, 2, 1.0f), "   42|42   |1.00");
  EXPECT_EQ(formatted("%*d|", -5, 42), "42   |");
}

TEST(LogFormat, PrintsStrings) {
  EXPECT_EQ(formatted("<%s>", "text"), "<text>");
  EXPECT_EQ(formatted("<%.2s> <%6s>", "text", "text"), "<te> <  text>");
  EXPECT_EQ(formatted("%s", uint64_t{0}), "(null)");
  EXPECT_EQ(formatted("%s", uint64_t{1}), "<unreadable>");
  const std::string long_text(20000, 'x');
  EXPECT_EQ(formatted("%s", long_text.c_str()), long_text);
}

TEST(LogFormat, PrintsTheComponentsOfVectors) {
  EXPECT_EQ(formatted("%v4f", 1.0f, 2.0f, 3.0f, 4.0f), "1.000000,2.000000,3.000000,4.000000");
  EXPECT_EQ(formatted("%.1v2f;%d", 1.0f, 2.0f, 9), "1.0,2.0;9");
  EXPECT_EQ(formatted("%v3d", -1, 2, 3), "-1,2,3");
  EXPECT_EQ(formatted("%2.1v2hlf %v2hhd %v2hlx", 1.0f, 2.0f, 255, 1, 16, -1), "1.0,2.0 -1,1 10,ffffffff");
}

TEST(LogFormat, AcceptsPrivacyAnnotations) {
  EXPECT_EQ(formatted("%{public}d %{private}s", 3, "x"), "3 x");
}

TEST(LogFormat, SaysWhatIsMissing) {
  EXPECT_EQ(formatted("%d %d", 1), "1 <missing>");
  EXPECT_EQ(formatted("%v4f", 1.0f, 2.0f), "1.000000,2.000000,<missing>,<missing>");
  EXPECT_EQ(formatted("%*d", 5), "<missing>");
  EXPECT_EQ(formatted("%s"), "<missing>");
  EXPECT_EQ(format_log("%d", nullptr, 8), "<missing>");
  const uint64_t one = 7;
  EXPECT_EQ(format_log("%d", &one, 7), "<missing>");
}

TEST(LogFormat, LeavesWhatIsNoConversionAsItIs) {
  EXPECT_EQ(formatted("%"), "%");
  EXPECT_EQ(formatted("50%, 60%"), "50%, 60%");
  EXPECT_EQ(formatted("%y %d", 1), "%y 1");
  EXPECT_EQ(formatted("%n%d", 1), "%n1");
  EXPECT_EQ(formatted("%{public", 1), "%{public");
  EXPECT_EQ(formatted("%v5d %v1d %v", 1), "%v5d %v1d %v");
  EXPECT_EQ(formatted("%-05.3ll", 1), "%-05.3ll");
  EXPECT_EQ(format_log(nullptr, nullptr, 0), "(null)");
}

TEST(LogFormat, KeepsWidthsWithinReason) {
  EXPECT_LE(formatted("%999999999999d", 1).size(), 5000u);
  EXPECT_LE(formatted("%*d", 2000000000, 1).size(), 5000u);
  EXPECT_LE(formatted("%.999999999f", 1.0f).size(), 5000u);
}

TEST(LogFormat, SurvivesAnyFormat) {
  std::mt19937 random(23);
  const std::string letters = "%%%%%%0123456789.*-+ #hlLqzjtv{}diouxXcfFeEgGaAnyp";
  for (int n = 0; n < 200000; ++n) {
    std::string format;
    for (unsigned i = random() % 12; i > 0; --i) format += letters[random() % letters.size()];
    std::vector<uint64_t> slots(random() % 4);
    for (uint64_t& value : slots) value = uint64_t{random()} << 32 ^ random();
    const std::string text = format_log(format.c_str(), slots.data(), static_cast<uint32_t>(slots.size() * 8));
    ASSERT_LE(text.size(), 40000u) << format;
    if (format.find('%') == format.npos) {
      ASSERT_EQ(text, format);
    }
  }
}

TEST(LogFormat, SaysWhichSlotsAreStrings) {
  EXPECT_EQ(string_slots("%d %s %% %v4f %*.*s %{public}s"), (std::vector<uint32_t>{1, 8, 9}));
  EXPECT_TRUE(string_slots("none %d %").empty());
}

}  // namespace
}  // namespace metalloid::device
