#include <Foundation/Foundation.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "foundation/value.hpp"
#include "gtest/gtest.h"

namespace {

class Number : public testing::Test {
 protected:
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

template <class Type>
void keeps_its_limits(Type (NS::Number::*value)() const, const char* encoding) {
  for (const Type limit : {std::numeric_limits<Type>::lowest(), std::numeric_limits<Type>::max(), Type(1)}) {
    NS::Number* number = NS::Number::number(limit);
    EXPECT_EQ((number->*value)(), limit);
    EXPECT_STREQ(number->objCType(), encoding);
    Type bytes{};
    number->getValue(&bytes, sizeof bytes);
    EXPECT_EQ(bytes, limit);
    const auto own = NS::TransferPtr(NS::Number::alloc()->init(limit));
    EXPECT_TRUE(own->isEqualToNumber(number));
  }
}

TEST_F(Number, EveryKindKeepsItsValue) {
  keeps_its_limits<char>(&NS::Number::charValue, "c");
  keeps_its_limits<unsigned char>(&NS::Number::unsignedCharValue, "C");
  keeps_its_limits<short>(&NS::Number::shortValue, "s");
  keeps_its_limits<unsigned short>(&NS::Number::unsignedShortValue, "S");
  keeps_its_limits<int>(&NS::Number::intValue, "i");
  keeps_its_limits<unsigned int>(&NS::Number::unsignedIntValue, "I");
  keeps_its_limits<long>(&NS::Number::longValue, "q");
  keeps_its_limits<unsigned long>(&NS::Number::unsignedLongValue, "Q");
  keeps_its_limits<long long>(&NS::Number::longLongValue, "q");
  keeps_its_limits<unsigned long long>(&NS::Number::unsignedLongLongValue, "Q");
  keeps_its_limits<float>(&NS::Number::floatValue, "f");
  keeps_its_limits<double>(&NS::Number::doubleValue, "d");
  keeps_its_limits<bool>(&NS::Number::boolValue, "c");
}

TEST_F(Number, IntegersWrapAndFloatingValuesSaturate) {
  EXPECT_EQ(NS::Number::number(-1)->unsignedIntValue(), 0xFFFFFFFFu);
  EXPECT_EQ(NS::Number::number(300)->unsignedCharValue(), 44);
  EXPECT_EQ(NS::Number::number(3.99)->intValue(), 3);
  EXPECT_EQ(NS::Number::number(-3.99)->integerValue(), -3);
  EXPECT_EQ(NS::Number::number(1e30)->intValue(), std::numeric_limits<int>::max());
  EXPECT_EQ(NS::Number::number(-1e30)->longLongValue(), std::numeric_limits<long long>::min());
  EXPECT_EQ(NS::Number::number(-5.0)->unsignedIntegerValue(), 0u);
  EXPECT_EQ(NS::Number::number(1e30)->unsignedLongLongValue(), std::numeric_limits<unsigned long long>::max());
  EXPECT_EQ(NS::Number::number(std::nan(""))->intValue(), 0);
  EXPECT_TRUE(NS::Number::number(0.5)->boolValue());
  EXPECT_FALSE(NS::Number::number(-0.0)->boolValue());
}

TEST_F(Number, ComparisonIsExactAcrossKinds) {
  const auto compare = [](auto a, auto b) { return NS::Number::number(a)->compare(NS::Number::number(b)); };
  EXPECT_EQ(compare(1, 1.0), NS::OrderedSame);
  EXPECT_EQ(compare(-1, 1u), NS::OrderedAscending);
  EXPECT_EQ(compare(std::numeric_limits<unsigned long>::max(), -1L), NS::OrderedDescending);
  EXPECT_EQ(compare((1LL << 53) + 1, 9007199254740992.0), NS::OrderedDescending);
  EXPECT_EQ(compare(9007199254740992.0, (1LL << 53) + 1), NS::OrderedAscending);
  EXPECT_EQ(compare(std::numeric_limits<long long>::max(), 9223372036854775808.0), NS::OrderedAscending);
  EXPECT_EQ(compare(std::numeric_limits<long long>::min(), -9223372036854775808.0), NS::OrderedSame);
  EXPECT_EQ(compare(2, 2.5), NS::OrderedAscending);
  EXPECT_EQ(compare(-2, -2.5), NS::OrderedDescending);
  EXPECT_EQ(compare(0.0, -0.0), NS::OrderedSame);
  EXPECT_EQ(compare(std::nan(""), std::nan("")), NS::OrderedSame);
  EXPECT_EQ(compare(-std::numeric_limits<double>::infinity(), std::nan("")), NS::OrderedDescending);
}

TEST_F(Number, EqualNumbersHaveEqualHashesAndTheOrderIsConsistent) {
  std::vector<NS::Number*> numbers = {
      NS::Number::number(0),          NS::Number::number(-0.0),         NS::Number::number(false),
      NS::Number::number(1u),         NS::Number::number(true),         NS::Number::number(1.0f),
      NS::Number::number(-1),         NS::Number::number(~0ull),        NS::Number::number(1.8446744073709552e19),
      NS::Number::number(0.1),        NS::Number::number(0.1f),         NS::Number::number(9223372036854775808.0),
      NS::Number::number(1ull << 63), NS::Number::number(std::nan("")), NS::Number::number(INFINITY)};
  for (NS::Number* a : numbers) {
    for (NS::Number* b : numbers) {
      EXPECT_EQ(a->compare(b), -b->compare(a));
      if (!a->isEqualToNumber(b)) continue;
      EXPECT_EQ(a->hash(), b->hash());
    }
  }
  EXPECT_FALSE(numbers[0]->isEqual(NS::String::string("0", NS::UTF8StringEncoding)));
}

TEST_F(Number, StringsAreShort) {
  EXPECT_STREQ(NS::Number::number(-42)->stringValue()->utf8String(), "-42");
  EXPECT_STREQ(NS::Number::number(~0ull)->description()->utf8String(), "18446744073709551615");
  EXPECT_STREQ(NS::Number::number(0.1)->stringValue()->utf8String(), "0.1");
  EXPECT_STREQ(NS::Number::number(0.1f)->stringValue()->utf8String(), "0.1");
  EXPECT_STREQ(NS::Number::number(true)->stringValue()->utf8String(), "1");
  EXPECT_STREQ(NS::Number::number(2.5)->descriptionWithLocale(nullptr)->utf8String(), "2.5");
}

TEST_F(Number, AValueKeepsBytesOfItsType) {
  struct Point {
    char tag;
    double x, y;
  } point{'p', 1, 2}, read{};
  NS::Value* value = NS::Value::value(&point, "{Point=cdd}");
  value->getValue(&read, sizeof read);
  EXPECT_EQ(read.y, 2);
  EXPECT_STREQ(value->objCType(), "{Point=cdd}");
  EXPECT_TRUE(value->isEqualToValue(NS::Value::value(&point, "{Point=cdd}")));
  EXPECT_FALSE(value->isEqualToValue(NS::Value::value(&point)));
  EXPECT_EQ(NS::Value::value(&point)->pointerValue(), &point);
  EXPECT_EQ(NS::Value::value(static_cast<const void*>(nullptr))->pointerValue(), nullptr);

  testing::internal::CaptureStderr();
  Point untouched{'u', 3, 4};
  value->getValue(&untouched, 1);
  EXPECT_EQ(untouched.tag, 'u');
  EXPECT_EQ(NS::Value::value(&point, "?"), nullptr);
  EXPECT_EQ(NS::Value::value(nullptr, "i"), nullptr);
  EXPECT_EQ(NS::Value::value(&point, nullptr), nullptr);
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Number, SizesOfTypesComeFromTheirEncodings) {
  using metalloid::foundation::size_of_encoded_type;
  EXPECT_EQ(size_of_encoded_type("i"), 4u);
  EXPECT_EQ(size_of_encoded_type("r^v"), 8u);
  EXPECT_EQ(size_of_encoded_type("@\"NSString\""), 8u);
  EXPECT_EQ(size_of_encoded_type("@?"), 8u);
  EXPECT_EQ(size_of_encoded_type("[4f]"), 16u);
  EXPECT_EQ(size_of_encoded_type("{CGRect={CGPoint=dd}{CGSize=dd}}"), 32u);
  EXPECT_EQ(size_of_encoded_type("{A=ci[3s]}"), 16u);
  EXPECT_EQ(size_of_encoded_type("(U=cdi)"), 8u);
  EXPECT_EQ(size_of_encoded_type("^{Node=i^{Node}}"), 8u);
  for (const char* bad : {"", "?", "[4f", "{A=i", "ii", "@\"x", "^", "v", "[99999999999999f]", "{"})
    EXPECT_EQ(size_of_encoded_type(bad), std::nullopt) << bad;
  EXPECT_EQ(size_of_encoded_type(std::string(100000, '^')), std::nullopt);
}

}  // namespace
