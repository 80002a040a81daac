#include <Foundation/NSAutoreleasePool.hpp>
#include <Foundation/NSSharedPtr.hpp>
#include <Foundation/NSString.hpp>
#include <random>
#include <string>

#include "foundation/encoding.hpp"
#include "gtest/gtest.h"

namespace {

using namespace metalloid::foundation;

class String : public testing::Test {
 protected:
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

NS::String* text(const char* utf8) {
  return NS::String::string(utf8, NS::UTF8StringEncoding);
}

NS::String* from_bytes(std::string bytes, NS::StringEncoding encoding) {
  NS::String* string = NS::String::alloc()->init(bytes.data(), bytes.size(), encoding, false);
  return string ? string->autorelease() : nullptr;
}

TEST_F(String, LengthAndCharactersAreThoseOfUTF16) {
  NS::String* string = text("aé€😀");
  EXPECT_EQ(string->length(), 5u);
  EXPECT_EQ(string->character(0), 'a');
  EXPECT_EQ(string->character(1), 0xE9);
  EXPECT_EQ(string->character(2), 0x20AC);
  EXPECT_EQ(string->character(3), 0xD83D);
  EXPECT_EQ(string->character(4), 0xDE00);
  EXPECT_STREQ(string->utf8String(), "aé€😀");
  EXPECT_EQ(string->lengthOfBytes(NS::UTF8StringEncoding), 10u);
  EXPECT_EQ(string->maximumLengthOfBytes(NS::UTF8StringEncoding), 15u);
  EXPECT_EQ(string->lengthOfBytes(NS::UTF16StringEncoding), 10u);
  EXPECT_EQ(string->lengthOfBytes(NS::UTF32StringEncoding), 16u);
  EXPECT_EQ(string->lengthOfBytes(NS::ASCIIStringEncoding), 0u);
}

TEST_F(String, EmptyStringsAreStrings) {
  EXPECT_EQ(NS::String::string()->length(), 0u);
  EXPECT_STREQ(NS::String::string()->utf8String(), "");
  EXPECT_EQ(text("")->length(), 0u);
  EXPECT_TRUE(NS::String::string()->isEqualToString(text("")));
  NS::String* string = NS::String::alloc()->init();
  EXPECT_STREQ(string->description()->utf8String(), "");
  string->release();
  EXPECT_EQ(NS::String::alloc()->init(nullptr, 0, NS::UTF8StringEncoding, false)->autorelease()->length(), 0u);
}

TEST_F(String, NullTextGivesNoStringAndASentence) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(NS::String::string(nullptr, NS::UTF8StringEncoding), nullptr);
  EXPECT_EQ(NS::String::string(static_cast<const NS::String*>(nullptr)), nullptr);
  EXPECT_EQ(text("abc")->stringByAppendingString(nullptr), nullptr);
  EXPECT_EQ(text("abc")->character(3), 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("*** -[NSString characterAtIndex:]"), std::string::npos);
  EXPECT_EQ(NS::String::alloc()->init(nullptr, 3, NS::UTF8StringEncoding, false), nullptr);
}

TEST_F(String, BytesThatAreNotOfTheEncodingGiveNoString) {
  for (const char* bad :
       {"\xFF", "\xC3", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "a\x80", "\xF8\x88\x80\x80\x80"})
    EXPECT_EQ(text(bad), nullptr) << bad;
  EXPECT_EQ(from_bytes("abc", NS::UTF16StringEncoding), nullptr);
  EXPECT_EQ(from_bytes("abcde", NS::UTF32StringEncoding), nullptr);
  EXPECT_EQ(from_bytes(std::string("\x00\x00\x11\x00", 4), NS::UTF32LittleEndianStringEncoding), nullptr);
  EXPECT_EQ(from_bytes("abc", NS::SymbolStringEncoding), nullptr);
}

TEST_F(String, BytesPastAsciiAreReadAsLatin1) {
  EXPECT_STREQ(NS::String::string("caf\xE9", NS::ASCIIStringEncoding)->utf8String(), "café");
}

TEST_F(String, EmbeddedNulsAreKept) {
  NS::String* string = from_bytes(std::string("a\0b", 3), NS::UTF8StringEncoding);
  EXPECT_EQ(string->length(), 3u);
  EXPECT_EQ(string->character(2), 'b');
  EXPECT_FALSE(string->isEqualToString(text("a")));
  EXPECT_STREQ(string->utf8String(), "a");
  EXPECT_EQ(string->lengthOfBytes(NS::UTF8StringEncoding), 3u);
}

TEST_F(String, EveryEncodingReadsWhatItWrites) {
  struct Case {
    NS::StringEncoding encoding;
    const char* utf8;
    std::string bytes;
  };
  const Case cases[] = {
      {NS::ASCIIStringEncoding, "plain", "plain"},
      {NS::UTF8StringEncoding, "naïve 😀", "naïve 😀"},
      {NS::ISOLatin1StringEncoding, "é", "\xE9"},
      {NS::UTF16BigEndianStringEncoding, "é😀", std::string("\x00\xE9\xD8\x3D\xDE\x00", 6)},
      {NS::UTF16LittleEndianStringEncoding, "é😀", std::string("\xE9\x00\x3D\xD8\x00\xDE", 6)},
      {NS::UTF32BigEndianStringEncoding, "😀", std::string("\x00\x01\xF6\x00", 4)},
      {NS::UTF32LittleEndianStringEncoding, "😀", std::string("\x00\xF6\x01\x00", 4)},
      {NS::NonLossyASCIIStringEncoding, "é€\\x", "\\351\\u20ac\\\\x"},
      {NS::ISOLatin2StringEncoding, "ł", "\xB3"},
      {NS::WindowsCP1250StringEncoding, "ł", "\xB3"},
      {NS::WindowsCP1251StringEncoding, "Ж", "\xC6"},
      {NS::WindowsCP1252StringEncoding, "€", "\x80"},
      {NS::WindowsCP1253StringEncoding, "Ω", "\xD9"},
      {NS::WindowsCP1254StringEncoding, "ş", "\xFE"},
      {NS::MacOSRomanStringEncoding, "é", "\x8E"},
      {NS::JapaneseEUCStringEncoding, "あ", "\xA4\xA2"},
      {NS::ShiftJISStringEncoding, "あ", "\x82\xA0"},
      {NS::ISO2022JPStringEncoding, "あ", "\x1B$B$\"\x1B(B"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(encode(c.utf8, c.encoding), c.bytes) << c.utf8 << " in " << c.encoding;
    EXPECT_EQ(decode(c.bytes, c.encoding), c.utf8) << c.utf8 << " in " << c.encoding;
    EXPECT_LE(c.bytes.size(), text(c.utf8)->maximumLengthOfBytes(c.encoding));
    const char* written = text(c.utf8)->cString(c.encoding);
    ASSERT_NE(written, nullptr);
    EXPECT_EQ(std::string(written, c.bytes.size()), c.bytes);
    NS::String* read = NS::String::string(written, c.encoding);
    ASSERT_NE(read, nullptr);
    EXPECT_STREQ(read->utf8String(), c.utf8);
  }
  EXPECT_EQ(text("€")->cString(NS::ISOLatin1StringEncoding), nullptr);
  EXPECT_EQ(text("é")->cString(NS::ASCIIStringEncoding), nullptr);
}

TEST_F(String, AByteOrderMarkDecidesWhereTheEncodingDoesNot) {
  EXPECT_STREQ(from_bytes(std::string("\xFE\xFF\x00\x61", 4), NS::UTF16StringEncoding)->utf8String(), "a");
  EXPECT_STREQ(from_bytes(std::string("\xFF\xFE\x61\x00", 4), NS::UTF16StringEncoding)->utf8String(), "a");
  EXPECT_EQ(from_bytes(std::string("\xFE\xFF\x00\x61", 4), NS::UTF16BigEndianStringEncoding)->length(), 2u);
}

TEST_F(String, UnpairedSurrogatesAreKeptAndJoin) {
  NS::String* high = from_bytes("\x3D\xD8", NS::UTF16LittleEndianStringEncoding);
  NS::String* low = from_bytes(std::string("\x00\xDE", 2), NS::UTF16LittleEndianStringEncoding);
  ASSERT_TRUE(high && low);
  EXPECT_EQ(high->character(0), 0xD83D);
  EXPECT_EQ(high->utf8String(), nullptr);
  EXPECT_EQ(high->lengthOfBytes(NS::UTF16StringEncoding), 2u);
  EXPECT_STREQ(high->stringByAppendingString(low)->utf8String(), "😀");
}

TEST_F(String, RandomUnitsSurviveTheWayThroughUTF8) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 500; ++round) {
    std::u16string units(random() % 12, u'\0');
    for (char16_t& unit : units) unit = random() % 3 ? 0xD800 + random() % 0x800 : random();
    EXPECT_EQ(units_from_utf8(utf8_from_units(units)), units);
  }
}

TEST_F(String, ABufferIsFreedWhenItWasGivenAway) {
  char* buffer = static_cast<char*>(malloc(3));
  memcpy(buffer, "abc", 3);
  NS::String* string = NS::String::alloc()->init(buffer, 3, NS::UTF8StringEncoding, true);
  EXPECT_STREQ(string->utf8String(), "abc");
  string->release();
}

TEST_F(String, EqualityAndHashAreOfTheText) {
  NS::String *a = text("größe"), *b = text("größe"), *c = text("Größe");
  EXPECT_TRUE(a->isEqualToString(b));
  EXPECT_TRUE(a->isEqual(static_cast<NS::Object*>(b)));
  EXPECT_EQ(a->hash(), b->hash());
  EXPECT_FALSE(a->isEqualToString(c));
  EXPECT_FALSE(a->isEqualToString(nullptr));
  EXPECT_EQ(a->caseInsensitiveCompare(c), NS::OrderedSame);
  EXPECT_EQ(text("ÀB")->caseInsensitiveCompare(text("àb")), NS::OrderedSame);
  EXPECT_EQ(text("abc")->caseInsensitiveCompare(text("ABD")), NS::OrderedAscending);
  EXPECT_EQ(text("abc")->caseInsensitiveCompare(text("AB")), NS::OrderedDescending);
  EXPECT_TRUE(NS::String::string(a)->isEqualToString(a));
}

TEST_F(String, RangeOfStringFollowsItsOptions) {
  NS::String* string = text("Über über uber");
  const auto find = [&](const char* sought, NS::StringCompareOptions options) {
    const NS::Range range = string->rangeOfString(text(sought), options);
    return std::pair(static_cast<NS::Integer>(range.location), range.length);
  };
  const std::pair<NS::Integer, NS::UInteger> nowhere(NS::NotFound, 0);
  EXPECT_EQ(find("über", NS::LiteralSearch), std::pair(NS::Integer(5), NS::UInteger(4)));
  EXPECT_EQ(find("über", NS::CaseInsensitiveSearch).first, 0);
  EXPECT_EQ(find("über", NS::CaseInsensitiveSearch | NS::BackwardsSearch).first, 5);
  EXPECT_EQ(find("über", NS::AnchoredSearch), nowhere);
  EXPECT_EQ(find("uber", NS::AnchoredSearch | NS::BackwardsSearch).first, 10);
  EXPECT_EQ(find("nothing", 0), nowhere);
  EXPECT_EQ(find("", 0), nowhere);
  EXPECT_EQ(find("longer than the whole string is", NS::AnchoredSearch | NS::BackwardsSearch), nowhere);
}

TEST_F(String, AppendingMakesANewString) {
  NS::String* string = text("kernel ");
  EXPECT_STREQ(string->stringByAppendingString(text("void"))->utf8String(), "kernel void");
  EXPECT_STREQ(string->utf8String(), "kernel ");
  EXPECT_STREQ(string->fileSystemRepresentation(), "kernel ");
}

}  // namespace
