// Who owns what, for how long: counts, pools, SharedPtr, messages to nil. Objects that die tell a counter.
#include <Foundation/Foundation.hpp>
#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "metal_cpp_program.hpp"

namespace {

std::atomic<int> alive = 0;

// What src/metal does to implement an interface, in small (docs/objects.md).
class Descriptor : public NS::Copying<Descriptor> {
 public:
  static Descriptor* alloc();
  Descriptor* init() { return this; }
  int size() const;
  void setSize(int size);
};

class DescriptorObject final : public Descriptor {
 public:
  int size = 0;
  std::function<void()> at_end;

  DescriptorObject() { ++alive; }
  ~DescriptorObject() override {
    --alive;
    if (at_end) at_end();
  }

  const char* className() const override { return "Descriptor"; }
  NS::Object* contentCopy() const override {
    auto* copy = new DescriptorObject;
    copy->size = size;
    return copy;
  }
};

Descriptor* Descriptor::alloc() {
  return new DescriptorObject;
}
int Descriptor::size() const {
  return static_cast<const DescriptorObject*>(this)->size;
}
void Descriptor::setSize(int size) {
  static_cast<DescriptorObject*>(this)->size = size;
}

Descriptor* make() {
  return Descriptor::alloc()->init();
}

// Hidden from the compiler, which would complain about calls on a null that it sees.
template <class Class>
__attribute__((noinline)) Class* nil() {
  static Class* volatile pointer = nullptr;
  return pointer;
}

class Ownership : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(alive, 0); }
  void TearDown() override { EXPECT_EQ(alive, 0); }
};

TEST_F(Ownership, AnObjectLivesUntilItsLastReferenceIsReleased) {
  Descriptor* object = make();
  EXPECT_EQ(object->retainCount(), 1u);
  EXPECT_EQ(object->retain(), object);
  EXPECT_EQ(object->retainCount(), 2u);
  object->release();
  EXPECT_EQ(alive, 1);
  object->release();
  EXPECT_EQ(alive, 0);
}

TEST_F(Ownership, ACopyIsTheCallersAndAnotherObjectWhereItMustBe) {
  Descriptor* object = make();
  object->setSize(7);
  Descriptor* copy = object->copy();
  object->setSize(8);
  EXPECT_NE(copy, object);
  EXPECT_EQ(copy->size(), 7);
  copy->release();
  object->release();

  NS::String* text = NS::String::alloc()->init("unchanging", NS::UTF8StringEncoding);
  NS::String* same = text->copy();
  EXPECT_EQ(same, text);
  same->release();
  text->release();
}

TEST_F(Ownership, ObjectsAreEqualByIdentityUnlessTheirClassSaysMore) {
  auto a = NS::TransferPtr(make()), b = NS::TransferPtr(make());
  EXPECT_TRUE(a->isEqual(a.get()));
  EXPECT_FALSE(a->isEqual(b.get()));
  EXPECT_FALSE(a->isEqual(nullptr));
  EXPECT_EQ(a->hash(), a->hash());
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  EXPECT_EQ(std::string(a->description()->utf8String()).rfind("<Descriptor: 0x", 0), 0u);
  EXPECT_TRUE(a->debugDescription()->isEqual(a->description()));
}

TEST_F(Ownership, APoolReleasesWhatWasAutoreleasedWhileItWasTheTopmost) {
  auto* outer = NS::AutoreleasePool::alloc()->init();
  make()->autorelease();
  auto* inner = NS::AutoreleasePool::alloc()->init();
  make()->autorelease();
  make()->autorelease();
  EXPECT_EQ(alive, 3);
  inner->release();
  EXPECT_EQ(alive, 1);
  make()->autorelease();
  outer->drain();
  EXPECT_EQ(alive, 0);
}

TEST_F(Ownership, ReleasingAnOuterPoolDrainsTheInnerOnesWhoseOwnersMayStillReleaseThem) {
  auto outer = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  make()->autorelease();
  outer.reset();
  EXPECT_EQ(alive, 0);
  inner.reset();
}

TEST_F(Ownership, AnObjectMayBeAutoreleasedSeveralTimesAndAddedToAPool) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  Descriptor* object = make();
  object->retain()->autorelease();
  object->retain()->autorelease();
  pool->addObject(object);
  pool->addObject(nullptr);
  EXPECT_EQ(object->retainCount(), 3u);
  pool.reset();
  EXPECT_EQ(alive, 0);
}

TEST_F(Ownership, DrainingReleasesWhatDyingObjectsAutorelease) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto* first = new DescriptorObject;
  first->at_end = [] {
    auto* inner = NS::AutoreleasePool::alloc()->init();
    make()->autorelease();
    inner->release();
    make()->autorelease();
    EXPECT_EQ(alive, 1);
  };
  first->autorelease();
  pool.reset();
  EXPECT_EQ(alive, 0);
}

TEST_F(Ownership, DrainingMayReleaseAnOuterPoolAndLeavesTheOnesBelowItAlone) {
  auto bottom = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  make()->autorelease();
  auto* outer = NS::AutoreleasePool::alloc()->init();
  auto* inner = NS::AutoreleasePool::alloc()->init();
  auto* last = new DescriptorObject;
  last->at_end = [outer] { outer->release(); };
  last->autorelease();
  inner->release();
  EXPECT_EQ(alive, 1);
  bottom.reset();
}

// Programs release command buffers and encoders, which are not theirs.
TEST_F(Ownership, WhatIsInNoPoolMayBeReleasedByAnyThread) {
  std::thread([] {
    make()->autorelease()->release();
    EXPECT_EQ(alive, 0);
    make()->autorelease();
    Descriptor* object = make()->autorelease()->retain();
    object->release();
    EXPECT_EQ(alive, 2);
    std::thread([object] { object->release(); }).join();
    EXPECT_EQ(alive, 1) << "the other one lives as long as this thread";
  }).join();
  EXPECT_EQ(alive, 0);
}

TEST_F(Ownership, WhatAPoolHoldsOutlivesAReleaseTooMany) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  Descriptor* object = make()->autorelease();
  Descriptor* twice = make()->autorelease()->autorelease();
  object->retain();
  for (int i = 0; i < 4; ++i) object->release();
  EXPECT_EQ(object->retainCount(), 0u);
  EXPECT_EQ(twice->retainCount(), 1u);
  EXPECT_EQ(alive, 2);
  pool.reset();
  EXPECT_EQ(alive, 0);
}

TEST_F(Ownership, APoolThatIsNeverDrainedAndWhatHasNoPoolEndWithTheirThread) {
  std::thread([] {
    make()->autorelease();
    EXPECT_EQ(alive, 1);
  }).join();
  EXPECT_EQ(alive, 0);
  NS::AutoreleasePool* forgotten = nullptr;
  std::thread([&] {
    forgotten = NS::AutoreleasePool::alloc()->init();
    make()->autorelease();
  }).join();
  EXPECT_EQ(alive, 0);
  forgotten->release();
}

TEST_F(Ownership, APoolReleasedByAnotherThreadIsDrainedByItsOwn) {
  testing::internal::CaptureStderr();
  std::thread([] {
    auto* pool = NS::AutoreleasePool::alloc()->init();
    make()->autorelease();
    std::thread([pool] { pool->release(); }).join();
    EXPECT_EQ(alive, 1);
  }).join();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("another thread"), std::string::npos);
  EXPECT_EQ(alive, 0);
}

TEST_F(Ownership, APoolThatWasNeverInitialisedCollectsNothing) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto* idle = NS::AutoreleasePool::alloc();
  make()->autorelease();
  idle->release();
  EXPECT_EQ(alive, 1);
}

TEST_F(Ownership, CountsAndPoolsHoldUnderManyThreads) {
  auto shared = NS::TransferPtr(make());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 2000; ++i) {
        auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
        NS::SharedPtr<Descriptor> copy = shared;
        shared->retain()->autorelease();
        make()->autorelease();
        EXPECT_EQ(MTLSTR("shared by all"), NS::Private::constantString("shared by all", 13));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(shared->retainCount(), 1u);
  EXPECT_EQ(alive, 1);
}

TEST_F(Ownership, SharedPtrOwnsOneReference) {
  Descriptor* object = make();
  auto owner = NS::TransferPtr(object);
  EXPECT_EQ(object->retainCount(), 1u);
  auto second = NS::RetainPtr(object);
  EXPECT_EQ(object->retainCount(), 2u);
  NS::SharedPtr<NS::Object> base = second;
  EXPECT_EQ(object->retainCount(), 3u);
  EXPECT_TRUE(base == second);
  EXPECT_FALSE(base != owner);
  NS::SharedPtr<NS::Object> moved = std::move(second);
  EXPECT_FALSE(second);
  EXPECT_EQ(object->retainCount(), 3u);
  base.reset();
  moved = nullptr;
  EXPECT_EQ(object->retainCount(), 1u);
  NS::SharedPtr<Descriptor>& alias = owner;
  owner = alias;
  owner = std::move(alias);
  EXPECT_EQ(owner.get(), object);
  EXPECT_EQ(object->retainCount(), 1u);
  moved = owner;
  moved = std::move(owner);
  EXPECT_FALSE(owner);
  EXPECT_EQ(moved->retainCount(), 1u);
  Descriptor* raw = object;
  moved.detach();
  EXPECT_FALSE(moved);
  raw->release();
}

TEST_F(Ownership, SharedPtrTakesNull) {
  NS::SharedPtr<Descriptor> empty, null = nullptr, copy = empty, moved = std::move(null);
  copy = empty;
  moved = std::move(copy);
  empty.reset();
  EXPECT_FALSE(NS::TransferPtr(static_cast<Descriptor*>(nullptr)));
  EXPECT_FALSE(NS::RetainPtr(static_cast<Descriptor*>(nullptr)));
  EXPECT_EQ(empty.get(), nullptr);
}

TEST_F(Ownership, MessagesToNilAnswerNothing) {
  EXPECT_EQ(nil<Descriptor>()->retain(), nullptr);
  EXPECT_EQ(nil<Descriptor>()->autorelease(), nullptr);
  EXPECT_EQ(nil<Descriptor>()->copy(), nullptr);
  EXPECT_EQ(nil<Descriptor>()->retainCount(), 0u);
  nil<Descriptor>()->release();
  EXPECT_EQ(nil<NS::Object>()->hash(), 0u);
  EXPECT_FALSE(nil<NS::Object>()->isEqual(nullptr));
  EXPECT_EQ(nil<NS::Object>()->description(), nullptr);
  EXPECT_EQ(nil<NS::Object>()->debugDescription(), nullptr);
  EXPECT_EQ(nil<NS::String>()->length(), 0u);
  EXPECT_EQ(nil<NS::String>()->utf8String(), nullptr);
  EXPECT_EQ(nil<NS::String>()->stringByAppendingString(nullptr), nullptr);
  EXPECT_EQ(nil<NS::String>()->rangeOfString(nullptr, 0).length, 0u);
  EXPECT_EQ(nil<NS::Array>()->count(), 0u);
  EXPECT_EQ(nil<NS::Array>()->object(3), nullptr);
  EXPECT_EQ(nil<NS::Dictionary>()->object(nullptr), nullptr);
  EXPECT_EQ(nil<NS::Set>()->count(), 0u);
  EXPECT_EQ(nil<NS::Number>()->intValue(), 0);
  EXPECT_EQ(nil<NS::Number>()->doubleValue(), 0.0);
  EXPECT_EQ(nil<NS::Value>()->pointerValue(), nullptr);
  EXPECT_EQ(nil<NS::Data>()->length(), 0u);
  EXPECT_EQ(nil<NS::Error>()->localizedDescription(), nullptr);
  EXPECT_EQ(nil<NS::Error>()->code(), 0);
  EXPECT_EQ(nil<NS::URL>()->fileSystemRepresentation(), nullptr);
  EXPECT_EQ(nil<NS::Bundle>()->bundlePath(), nullptr);
  nil<NS::AutoreleasePool>()->drain();
  nil<NS::Condition>()->signal();
}

TEST_F(Ownership, ConstantStringsAreImmortalAndUnique) {
  NS::String* constant = MTLSTR("constant");
  EXPECT_EQ(constant->retainCount(), NS::UIntegerMax);
  for (int i = 0; i < 3; ++i) constant->release();
  constant->retain();
  EXPECT_STREQ(constant->utf8String(), "constant");
  EXPECT_EQ(constant, MTLSTR("constant"));
  EXPECT_NE(constant, MTLSTR("Constant"));
  EXPECT_EQ(MTLSTR("a\0b")->length(), 3u);
  NS::CocoaErrorDomain->release();
  EXPECT_STREQ(NS::CocoaErrorDomain->utf8String(), "NSCocoaErrorDomain");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  EXPECT_EQ(NS::MakeConstantString("constant"), constant);
#pragma GCC diagnostic pop
}

TEST_F(Ownership, AProgramForMetalCppRunsUnchanged) {
  EXPECT_EQ(run_metal_cpp_program(), "Hello World No such file. queue 3 Particles Particles 3 1");
}

}  // namespace
