#include <Foundation/Foundation.hpp>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace {

class Collections : public testing::Test {
 protected:
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

NS::String* text(const char* utf8) {
  return NS::String::string(utf8, NS::UTF8StringEncoding);
}

TEST_F(Collections, AnArrayKeepsItsObjectsInOrder) {
  NS::String* first = NS::String::alloc()->init("first", NS::UTF8StringEncoding);
  const NS::Object* objects[] = {first, NS::Number::number(2)};
  NS::Array* array = NS::Array::alloc()->init(objects, 2);
  EXPECT_EQ(first->retainCount(), 2u);
  first->release();
  EXPECT_EQ(array->count(), 2u);
  EXPECT_STREQ(array->object<NS::String>(0)->utf8String(), "first");
  EXPECT_EQ(array->object<NS::Number>(1)->intValue(), 2);
  EXPECT_TRUE(array->isEqual(NS::Array::array(objects, 2)));
  EXPECT_FALSE(array->isEqual(NS::Array::array(objects, 1)));
  EXPECT_FALSE(array->isEqual(text("first")));
  EXPECT_EQ(array->hash(), NS::Array::array(objects, 2)->hash());
  EXPECT_STREQ(array->description()->utf8String(), "(\n    first,\n    2\n)");
  array->release();
  EXPECT_EQ(NS::Array::array()->count(), 0u);
  EXPECT_EQ(NS::Array::array(first)->object(0), objects[0]);
}

TEST_F(Collections, NilObjectsAndIndicesOutOfBoundsAreReported) {
  testing::internal::CaptureStderr();
  const NS::Object* objects[] = {text("a"), nullptr};
  EXPECT_EQ(NS::Array::array(objects, 2), nullptr);
  EXPECT_EQ(NS::Array::array(nullptr, 1), nullptr);
  EXPECT_EQ(NS::Array::array(objects, 1)->object(1), nullptr);
  EXPECT_EQ(NS::Array::array()->object(static_cast<NS::UInteger>(-1)), nullptr);
  EXPECT_EQ(NS::Dictionary::dictionary(objects[0], nullptr), nullptr);
  EXPECT_EQ(NS::Set::alloc()->init(objects, 2), nullptr);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("*** -[NSArray objectAtIndex:]: index 1 beyond the array's 1 objects"), std::string::npos);
  EXPECT_EQ(NS::Array::alloc()->init(static_cast<const NS::Coder*>(nullptr)), nullptr);
  EXPECT_EQ(NS::Array::array(nullptr, 0)->count(), 0u);
}

TEST_F(Collections, ADictionaryFindsByEqualityOfKeys) {
  const NS::Object* keys[] = {text("width"), text("height"), NS::Number::number(1), text("width")};
  const NS::Object* values[] = {NS::Number::number(640), NS::Number::number(480), text("one"), NS::Number::number(0)};
  NS::Dictionary* dictionary = NS::Dictionary::dictionary(values, keys, 4);
  EXPECT_EQ(dictionary->count(), 3u);
  EXPECT_EQ(dictionary->object<NS::Number>(text("width"))->intValue(), 640);
  EXPECT_EQ(dictionary->object<NS::Number>(MTLSTR("height"))->intValue(), 480);
  EXPECT_STREQ(dictionary->object<NS::String>(NS::Number::number(1.0))->utf8String(), "one");
  EXPECT_EQ(dictionary->object(text("depth")), nullptr);
  EXPECT_EQ(dictionary->object(nullptr), nullptr);
  EXPECT_TRUE(dictionary->isEqual(NS::Dictionary::dictionary(values, keys, 3)));
  EXPECT_FALSE(dictionary->isEqual(NS::Dictionary::dictionary()));
  EXPECT_STREQ(NS::Dictionary::dictionary(text("two words"), text("key"))->description()->utf8String(),
               "{\n    key = \"two words\";\n}");
}

TEST_F(Collections, EnumeratorsVisitEveryObjectOnce) {
  const NS::Object* keys[] = {text("a"), text("b"), text("c")};
  NS::Dictionary* dictionary = NS::Dictionary::dictionary(keys, keys, 3);
  NS::Enumerator<NS::String>* enumerator = dictionary->keyEnumerator<NS::String>();
  std::string seen;
  while (NS::String* key = enumerator->nextObject()) seen += key->utf8String();
  EXPECT_EQ(seen, "abc");
  EXPECT_EQ(enumerator->nextObject(), nullptr);
  EXPECT_EQ(enumerator->allObjects()->count(), 0u);

  NS::Enumerator<NS::Object>* rest = NS::Array::array(keys, 3)->objectEnumerator();
  rest->nextObject();
  EXPECT_EQ(rest->allObjects()->count(), 2u);
  EXPECT_EQ(rest->nextObject(), nullptr);
}

TEST_F(Collections, AnEnumeratorKeepsItsCollectionAlive) {
  NS::Enumerator<NS::Object>* enumerator;
  {
    const auto object = NS::TransferPtr(NS::String::alloc()->init("kept", NS::UTF8StringEncoding));
    const NS::Object* objects[] = {object.get()};
    const auto array = NS::TransferPtr(NS::Array::alloc()->init(objects, 1));
    enumerator = array->objectEnumerator();
  }
  EXPECT_STREQ(static_cast<NS::String*>(enumerator->nextObject())->utf8String(), "kept");
}

TEST_F(Collections, FastEnumerationGivesBatches) {
  std::vector<const NS::Object*> objects;
  for (int i = 0; i < 10; ++i) objects.push_back(NS::Number::number(i));
  NS::FastEnumeration* enumerator = NS::Array::array(objects.data(), 10)->objectEnumerator();
  NS::FastEnumerationState state{};
  NS::Object* buffer[4];
  int sum = 0;
  std::vector<NS::UInteger> batches;
  while (const NS::UInteger count = enumerator->countByEnumerating(&state, buffer, 4)) {
    batches.push_back(count);
    ASSERT_NE(state.mutationsPtr, nullptr);
    for (NS::UInteger i = 0; i < count; ++i) sum += static_cast<NS::Number*>(state.itemsPtr[i])->intValue();
  }
  EXPECT_EQ(sum, 45);
  EXPECT_EQ(batches, (std::vector<NS::UInteger>{4, 4, 2}));
}

// Not what C++ calls a valid cast, yet what metal-cpp's FastEnumeration is for.
__attribute__((no_sanitize("undefined"))) NS::UInteger count_directly(NS::Array* array) {
  NS::FastEnumerationState state{};
  NS::Object* buffer[2];
  NS::UInteger total = 0;
  while (const NS::UInteger count =
             reinterpret_cast<NS::FastEnumeration*>(array)->countByEnumerating(&state, buffer, 2))
    total += count;
  return total;
}

TEST_F(Collections, FastEnumerationTakesACollectionItself) {
  const NS::Object* objects[] = {text("a"), text("b"), text("c")};
  EXPECT_EQ(count_directly(NS::Array::array(objects, 3)), 3u);
}

TEST_F(Collections, ASetHoldsEachObjectOnce) {
  const NS::Object* objects[] = {text("x"), text("y"), text("x"), NS::Number::number(1), NS::Number::number(true)};
  const auto set = NS::TransferPtr(NS::Set::alloc()->init(objects, 5));
  EXPECT_EQ(set->count(), 3u);
  const NS::Object* reordered[] = {objects[3], objects[1], objects[0]};
  const auto other = NS::TransferPtr(NS::Set::alloc()->init(reordered, 3));
  EXPECT_TRUE(set->isEqual(other.get()));
  EXPECT_EQ(set->hash(), other->hash());
  NS::UInteger visited = 0;
  NS::Enumerator<NS::Object>* enumerator = set->objectEnumerator();
  while (enumerator->nextObject()) ++visited;
  EXPECT_EQ(visited, 3u);
  const auto empty = NS::TransferPtr(NS::Set::alloc()->init());
  EXPECT_EQ(empty->count(), 0u);
  EXPECT_FALSE(empty->isEqual(set.get()));
}

}  // namespace
