// What deals with the world outside: files, bundles, the process, time, errors, notifications, conditions.
#include <unistd.h>

#include <Foundation/Foundation.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/notification.hpp"
#include "gtest/gtest.h"

namespace fs = std::filesystem;

namespace {

class System : public testing::Test {
 protected:
  System() { fs::create_directories(folder); }
  ~System() override { fs::remove_all(folder); }

  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const fs::path folder = fs::canonical(fs::temp_directory_path()) / ("foundation_test_" + std::to_string(getpid()));
};

NS::String* text(const std::string& utf8) {
  return NS::String::string(utf8.c_str(), NS::UTF8StringEncoding);
}

NS::URL* url(const char* string) {
  NS::URL* made = NS::URL::alloc()->init(text(string));
  return made ? made->autorelease() : nullptr;
}

TEST_F(System, DataKeepsACopyOfBytes) {
  char bytes[] = "a\0b";
  NS::Data* data = NS::Data::data(bytes, 3);
  bytes[0] = 'x';
  EXPECT_EQ(data->length(), 3u);
  EXPECT_EQ(std::string(static_cast<const char*>(data->bytes()), 3), std::string("a\0b", 3));
  const auto copy = NS::TransferPtr(data->copy());
  EXPECT_TRUE(copy->isEqual(data));
  EXPECT_EQ(copy->hash(), data->hash());
  static_cast<char*>(data->mutableBytes())[0] = 'z';
  EXPECT_FALSE(copy->isEqual(data));
  EXPECT_STREQ(copy->description()->utf8String(), "{length = 3, bytes = 0x610062}");
  EXPECT_EQ(NS::Data::data(nullptr, 0)->length(), 0u);
}

TEST_F(System, DataReadsFiles) {
  std::ofstream(folder / "shader.metal") << "kernel";
  NS::String* path = text(folder / "shader.metal");
  EXPECT_EQ(NS::Data::data(path)->length(), 6u);
  EXPECT_EQ(NS::Data::data(NS::URL::fileURLWithPath(path))->length(), 6u);
  EXPECT_EQ(NS::Data::data(text(folder / "missing")), nullptr);
  EXPECT_EQ(NS::Data::data(static_cast<const NS::URL*>(nullptr)), nullptr);
}

TEST_F(System, FileURLsHoldAbsolutePaths) {
  EXPECT_STREQ(NS::URL::fileURLWithPath(text("/tmp/a b%.metal"))->fileSystemRepresentation(), "/tmp/a b%.metal");
  EXPECT_STREQ(NS::URL::fileURLWithPath(text("/tmp/a b%.metal"))->description()->utf8String(),
               "file:///tmp/a%20b%25.metal");
  EXPECT_EQ(NS::URL::fileURLWithPath(text("x.metal"))->fileSystemRepresentation(), fs::current_path() / "x.metal");
  EXPECT_EQ(NS::URL::fileURLWithPath(text(""))->fileSystemRepresentation(), fs::current_path());
  EXPECT_STREQ(NS::URL::fileURLWithPath(text("/folder/"))->fileSystemRepresentation(), "/folder");
  EXPECT_STREQ(NS::URL::fileURLWithPath(text("/"))->fileSystemRepresentation(), "/");
  const auto own = NS::TransferPtr(NS::URL::alloc()->initFileURLWithPath(text("/a")));
  EXPECT_TRUE(own->isEqual(NS::URL::fileURLWithPath(text("/a"))));
  testing::internal::CaptureStderr();
  EXPECT_EQ(NS::URL::fileURLWithPath(nullptr), nullptr);
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
}

TEST_F(System, URLsAreReadFromText) {
  EXPECT_STREQ(url("file:///a%20b/c?q#f")->fileSystemRepresentation(), "/a b/c");
  EXPECT_STREQ(url("FILE://localhost/x")->fileSystemRepresentation(), "/x");
  EXPECT_STREQ(url("/plain/path%zz%2")->fileSystemRepresentation(), "/plain/path%zz%2");
  EXPECT_EQ(url("https://example.com/a")->fileSystemRepresentation(), nullptr);
  EXPECT_STREQ(url("https://example.com/a")->description()->utf8String(), "https://example.com/a");
  EXPECT_EQ(url(""), nullptr);
  EXPECT_EQ(NS::URL::alloc()->init()->autorelease()->fileSystemRepresentation(), nullptr);
}

TEST_F(System, TheMainBundleIsTheFolderOfTheExecutable) {
  NS::Bundle* bundle = NS::Bundle::mainBundle();
  const fs::path executable = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(bundle->executablePath()->utf8String(), executable);
  EXPECT_EQ(bundle->bundlePath()->utf8String(), executable.parent_path());
  EXPECT_EQ(bundle->resourcePath()->utf8String(), executable.parent_path());
  EXPECT_EQ(bundle->resourceURL()->fileSystemRepresentation(), executable.parent_path());
  EXPECT_TRUE(bundle->isLoaded());
  EXPECT_TRUE(bundle->load());
  EXPECT_FALSE(bundle->unload());
  EXPECT_EQ(NS::Bundle::allBundles()->object(0), bundle);
  EXPECT_EQ(NS::Bundle::allFrameworks()->count(), 0u);
  EXPECT_EQ(bundle->bundleIdentifier(), nullptr);
  EXPECT_EQ(bundle->objectForInfoDictionaryKey(text("CFBundleExecutable"))->description()->utf8String(),
            executable.filename());
  EXPECT_EQ(bundle->pathForAuxiliaryExecutable(text(executable.filename()))->utf8String(), executable);
  EXPECT_EQ(bundle->pathForAuxiliaryExecutable(text("no such program")), nullptr);
}

TEST_F(System, ABundleMayHaveTheLayoutOfAnApplication) {
  const fs::path app = folder / "Particles.app";
  fs::create_directories(app / "Contents/MacOS");
  std::ofstream(app / "Contents/MacOS/Particles") << "not a program";
  NS::Bundle* bundle = NS::Bundle::bundle(text(app));
  ASSERT_NE(bundle, nullptr);
  EXPECT_EQ(bundle->resourcePath()->utf8String(), app / "Contents/Resources");
  EXPECT_EQ(bundle->executablePath()->utf8String(), app / "Contents/MacOS/Particles");
  EXPECT_EQ(bundle->privateFrameworksURL()->fileSystemRepresentation(), app / "Contents/Frameworks");
  EXPECT_TRUE(bundle->isEqual(NS::Bundle::bundle(NS::URL::fileURLWithPath(text(app)))));
  EXPECT_TRUE(bundle->preflightAndReturnError(nullptr));
  NS::Error* error = nullptr;
  EXPECT_FALSE(bundle->loadAndReturnError(&error));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code(), 3587);
  EXPECT_NE(std::string(error->localizedDescription()->utf8String()).find("Particles.app"), std::string::npos);
  EXPECT_FALSE(bundle->isLoaded());
}

TEST_F(System, ABundleWithoutAFolderIsNone) {
  EXPECT_EQ(NS::Bundle::bundle(text("/no/such/folder")), nullptr);
  EXPECT_EQ(NS::Bundle::bundle(static_cast<const NS::String*>(nullptr)), nullptr);
  EXPECT_EQ(NS::Bundle::bundle(url("https://example.com")), nullptr);
  NS::Bundle* empty = NS::Bundle::bundle(text(folder));
  NS::Error* error = nullptr;
  EXPECT_FALSE(empty->loadAndReturnError(&error));
  EXPECT_EQ(error->code(), 4);
  EXPECT_EQ(empty->executablePath(), nullptr);
}

TEST_F(System, TextsAreTheirOwnTranslations) {
  NS::Bundle* bundle = NS::Bundle::mainBundle();
  EXPECT_STREQ(bundle->localizedString(text("key"))->utf8String(), "key");
  EXPECT_STREQ(bundle->localizedString(text("key"), text("value"))->utf8String(), "value");
  EXPECT_STREQ(bundle->localizedString(nullptr)->utf8String(), "");
  EXPECT_STREQ(NS::LocalizedString(text("key"), nullptr)->utf8String(), "key");
  EXPECT_STREQ(NS::LocalizedStringWithDefaultValue(text("k"), nullptr, bundle, text("v"), nullptr)->utf8String(), "v");
}

TEST_F(System, TheProcessKnowsItselfAndItsMachine) {
  NS::ProcessInfo* info = NS::ProcessInfo::processInfo();
  EXPECT_EQ(info, NS::ProcessInfo::processInfo());
  EXPECT_GE(info->arguments()->count(), 1u);
  EXPECT_NE(std::string(info->processName()->utf8String()).find("foundation_test"), std::string::npos);
  setenv("METALLOID_FOUNDATION_TEST", "a=b", 1);
  EXPECT_STREQ(info->environment()->object<NS::String>(text("METALLOID_FOUNDATION_TEST"))->utf8String(), "a=b");
  setenv("METALLOID_FOUNDATION_TEST", "\xFF", 1);
  EXPECT_STREQ(info->environment()->object<NS::String>(text("METALLOID_FOUNDATION_TEST"))->utf8String(), "ÿ");
  unsetenv("METALLOID_FOUNDATION_TEST");
  EXPECT_GT(info->hostName()->length(), 0u);
  EXPECT_GT(info->userName()->length(), 0u);
  EXPECT_NE(info->fullUserName(), nullptr);
  EXPECT_EQ(info->processIdentifier(), getpid());
  EXPECT_FALSE(info->globallyUniqueString()->isEqual(info->globallyUniqueString()));
  EXPECT_GE(info->activeProcessorCount(), 1u);
  EXPECT_GE(info->processorCount(), info->activeProcessorCount());
  EXPECT_GT(info->physicalMemory(), 1ull << 26);
  EXPECT_GT(info->systemUptime(), 0.0);
  EXPECT_EQ(info->thermalState(), NS::ProcessInfoThermalStateNominal);
  EXPECT_FALSE(info->isLowPowerModeEnabled());
}

TEST_F(System, TheOperatingSystemHasTheVersionOfAMacWithOurMetal) {
  NS::ProcessInfo* info = NS::ProcessInfo::processInfo();
  const NS::OperatingSystemVersion version = info->operatingSystemVersion();
  EXPECT_TRUE(info->isOperatingSystemAtLeastVersion(version));
  EXPECT_TRUE(info->isOperatingSystemAtLeastVersion({13, 3, 1}));
  EXPECT_FALSE(
      info->isOperatingSystemAtLeastVersion({version.majorVersion, version.minorVersion, version.patchVersion + 1}));
  EXPECT_NE(info->operatingSystemVersionString(), nullptr);
}

TEST_F(System, ActivitiesRun) {
  NS::ProcessInfo* info = NS::ProcessInfo::processInfo();
  int runs = 0;
  info->performActivity(NS::ActivityUserInitiated | NS::ActivityLatencyCritical, text("test"), [&] { ++runs; });
  info->performExpiringActivity(text("test"), [&](bool expired) { runs += !expired; });
  EXPECT_EQ(runs, 2);
  NS::Object* activity = info->beginActivity(NS::ActivityBackground, text("test"));
  EXPECT_NE(activity, nullptr);
  info->endActivity(activity);
}

TEST_F(System, ErrorsSayWhatHappened) {
  NS::Error* error = metalloid::foundation::autoreleased_error(NS::CocoaErrorDomain, 5, "No pipeline.");
  EXPECT_EQ(error->code(), 5);
  EXPECT_TRUE(error->domain()->isEqualToString(text("NSCocoaErrorDomain")));
  EXPECT_STREQ(error->localizedDescription()->utf8String(), "No pipeline.");
  EXPECT_EQ(error->userInfo()->count(), 1u);
  EXPECT_EQ(error->localizedFailureReason(), nullptr);
  EXPECT_EQ(error->localizedRecoveryOptions(), nullptr);
  EXPECT_NE(
      std::string(error->description()->utf8String()).find("Error Domain=NSCocoaErrorDomain Code=5 \"No pipeline.\""),
      std::string::npos);
  EXPECT_TRUE(error->isEqual(metalloid::foundation::autoreleased_error(NS::CocoaErrorDomain, 5, "No pipeline.")));
  metalloid::foundation::set_error(nullptr, NS::CocoaErrorDomain, 1, "nobody listens");
}

TEST_F(System, ErrorsWithoutADescriptionMakeOne) {
  EXPECT_STREQ(NS::Error::error(text("MyDomain"), -3, nullptr)->localizedDescription()->utf8String(),
               "The operation couldn’t be completed. (MyDomain error -3.)");
  EXPECT_STREQ(NS::Error::error(NS::POSIXErrorDomain, ENOENT, nullptr)->localizedDescription()->utf8String(),
               "The operation couldn’t be completed. No such file or directory");
  const NS::Object* keys[] = {NS::LocalizedFailureErrorKey, NS::LocalizedFailureReasonErrorKey,
                              NS::LocalizedRecoverySuggestionErrorKey, NS::LocalizedRecoveryOptionsErrorKey};
  const NS::Object* values[] = {text("It failed."), text("It was late."), text("Sleep."), NS::Array::array(text("OK"))};
  NS::Error* error = NS::Error::error(text("D"), 1, NS::Dictionary::dictionary(values, keys, 4));
  EXPECT_STREQ(error->localizedDescription()->utf8String(), "It failed. It was late.");
  EXPECT_STREQ(error->localizedRecoverySuggestion()->utf8String(), "Sleep.");
  EXPECT_EQ(error->localizedRecoveryOptions()->count(), 1u);
  EXPECT_EQ(NS::Error::alloc()->init()->autorelease()->userInfo()->count(), 0u);
  testing::internal::CaptureStderr();
  EXPECT_EQ(NS::Error::error(nullptr, 1, nullptr), nullptr);
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
}

TEST_F(System, ObserversHearWhatTheyAskedFor) {
  NS::NotificationCenter* center = NS::NotificationCenter::defaultCenter();
  std::vector<std::string> heard;
  NS::ObserverFunction handler = [&](NS::Notification* notification) {
    heard.push_back(notification->name()->utf8String());
    EXPECT_NE(notification->object(), nullptr);
    EXPECT_EQ(notification->userInfo(), nullptr);
  };
  NS::String *one = text("one"), *two = text("two");
  NS::Object* by_name = center->addObserver(one, nullptr, nullptr, handler);
  NS::Object* by_object = center->addObserver(nullptr, two, nullptr, handler);
  metalloid::foundation::post_notification(text("one"), one);
  metalloid::foundation::post_notification(text("other"), one);
  metalloid::foundation::post_notification(text("second"), two);
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "second"}));
  center->removeObserver(by_name);
  center->removeObserver(by_object);
  center->removeObserver(nullptr);
  metalloid::foundation::post_notification(text("one"), two);
  EXPECT_EQ(heard.size(), 2u);
}

TEST_F(System, AnObserverMayRemoveItself) {
  NS::NotificationCenter* center = NS::NotificationCenter::defaultCenter();
  int times = 0;
  NS::Object* self = nullptr;
  NS::ObserverFunction handler = [&](NS::Notification*) {
    ++times;
    center->removeObserver(self);
  };
  self = center->addObserver(text("once"), nullptr, nullptr, handler);
  metalloid::foundation::post_notification(text("once"), nullptr);
  metalloid::foundation::post_notification(text("once"), nullptr);
  EXPECT_EQ(times, 1);
}

TEST_F(System, AConditionWakesThoseWhoWait) {
  const auto condition = NS::TransferPtr(NS::Condition::alloc()->init());
  int turn = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      condition->lock();
      while (turn == 0) condition->wait();
      ++turn;
      condition->unlock();
    });
  }
  condition->lock();
  turn = 1;
  condition->unlock();
  condition->broadcast();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(turn, 5);
}

TEST_F(System, AConditionStopsWaitingAtTheDate) {
  const auto condition = NS::TransferPtr(NS::Condition::alloc()->init());
  condition->lock();
  const auto start = std::chrono::steady_clock::now();
  while (condition->waitUntilDate(NS::Date::dateWithTimeIntervalSinceNow(0.05))) {
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
  EXPECT_FALSE(condition->waitUntilDate(NS::Date::dateWithTimeIntervalSinceNow(-1e300)));
  condition->unlock();
  EXPECT_TRUE(NS::Date::distantFuture()->isEqual(NS::Date::dateWithTimeIntervalSinceNow(1e300)));
  EXPECT_STREQ(NS::Date::distantFuture()->description()->utf8String(), "4001-01-01 00:00:00 +0000");
}

TEST_F(System, RangesKnowWhatIsInThem) {
  const NS::Range range = NS::Range::Make(2, 3);
  EXPECT_TRUE(range.Equal(NS::Range(2, 3)));
  EXPECT_FALSE(range.LocationInRange(1));
  EXPECT_TRUE(range.LocationInRange(2));
  EXPECT_TRUE(range.LocationInRange(4));
  EXPECT_FALSE(range.LocationInRange(5));
  EXPECT_FALSE(NS::Range::Make(2, 0).LocationInRange(2));
  EXPECT_FALSE(range.LocationInRange(static_cast<NS::UInteger>(-1)));
  EXPECT_EQ(range.Max(), 5u);
}

}  // namespace
