#include <Availability.h>
#include <CoreFoundation/CoreFoundation.h>
#include <TargetConditionals.h>
#include <gtest/gtest.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <os/log.h>
#include <os/signpost.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <Foundation/Foundation.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace {

std::string text(const char* name) {
  size_t size = 0;
  if (sysctlbyname(name, nullptr, &size, nullptr, 0) != 0) return "";
  std::string value(size, 'x');
  EXPECT_EQ(sysctlbyname(name, value.data(), &size, nullptr, 0), 0);
  EXPECT_EQ(value.back(), '\0');
  value.pop_back();
  return value;
}

int number(const char* name) {
  int value = 0;
  size_t size = sizeof value;
  EXPECT_EQ(sysctlbyname(name, &value, &size, nullptr, 0), 0) << name;
  EXPECT_EQ(size, sizeof value) << name;
  return value;
}

TEST(MachTime, TicksTimesTheTimebaseAreNanoseconds) {
  mach_timebase_info_data_t base;
  ASSERT_EQ(mach_timebase_info(&base), KERN_SUCCESS);
  const auto clock = std::chrono::steady_clock::now();
  const uint64_t ticks = mach_absolute_time();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const uint64_t passed = (mach_absolute_time() - ticks) * base.numer / base.denom;
  const auto reference = std::chrono::nanoseconds(std::chrono::steady_clock::now() - clock).count();
  EXPECT_GE(passed, 20'000'000u);
  EXPECT_LE(passed, static_cast<uint64_t>(reference));
}

TEST(MachTime, WaitsUntilAPointInTime) {
  const uint64_t deadline = mach_absolute_time() + 5'000'000;
  EXPECT_EQ(mach_wait_until(deadline), KERN_SUCCESS);
  EXPECT_GE(mach_absolute_time(), deadline);
  EXPECT_GE(mach_continuous_time() + 1'000'000, mach_absolute_time());
}

TEST(MachMemory, PagesAreAlignedZeroAndGoBack) {
  EXPECT_EQ(vm_page_size, static_cast<vm_size_t>(getpagesize()));
  EXPECT_EQ(vm_page_size, vm_size_t(1) << vm_page_shift);
  EXPECT_EQ(round_page(vm_page_size + 1), 2 * vm_page_size);
  vm_address_t address = 0;
  ASSERT_EQ(vm_allocate(mach_task_self(), &address, 3 * vm_page_size + 1, VM_FLAGS_ANYWHERE), KERN_SUCCESS);
  EXPECT_EQ(address % vm_page_size, 0u);
  auto* bytes = reinterpret_cast<char*>(address);
  EXPECT_EQ(bytes[0] | bytes[3 * vm_page_size], 0);
  bytes[4 * vm_page_size - 1] = 1;
  vm_address_t taken = address;
  EXPECT_EQ(vm_allocate(mach_task_self(), &taken, vm_page_size, VM_FLAGS_FIXED), KERN_NO_SPACE);
  EXPECT_EQ(vm_deallocate(mach_task_self(), address, 3 * vm_page_size + 1), KERN_SUCCESS);
  EXPECT_EQ(vm_allocate(MACH_PORT_NULL, &address, vm_page_size, VM_FLAGS_ANYWHERE), KERN_INVALID_ARGUMENT);
}

TEST(MachTask, MemoryThatIsTouchedIsResident) {
  const auto resident = [] {
    mach_task_basic_info_data_t info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    EXPECT_EQ(task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &count),
              KERN_SUCCESS);
    EXPECT_GE(info.resident_size_max, info.resident_size);
    EXPECT_GE(info.virtual_size, info.resident_size);
    return info.resident_size;
  };
  constexpr vm_size_t size = 64 << 20;
  const auto before = resident();
  vm_address_t address = 0;
  ASSERT_EQ(vm_allocate(mach_task_self(), &address, size, VM_FLAGS_ANYWHERE), KERN_SUCCESS);
  std::memset(reinterpret_cast<void*>(address), 1, size);
  EXPECT_GE(resident(), before + size / 2);
  vm_deallocate(mach_task_self(), address, size);

  task_vm_info_data_t footprint;
  mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
  EXPECT_EQ(task_info(mach_task_self(), TASK_VM_INFO, reinterpret_cast<task_info_t>(&footprint), &count), KERN_SUCCESS);
  EXPECT_GT(footprint.phys_footprint, 0u);
  count = 1;
  EXPECT_EQ(task_info(mach_task_self(), TASK_VM_INFO, reinterpret_cast<task_info_t>(&footprint), &count),
            KERN_INVALID_ARGUMENT);
  EXPECT_EQ(task_info(mach_task_self(), 9999, reinterpret_cast<task_info_t>(&footprint), &count),
            KERN_INVALID_ARGUMENT);
}

TEST(Sysctl, SaysWhatTheMachineIs) {
  int64_t memory = 0;
  size_t size = sizeof memory;
  ASSERT_EQ(sysctlbyname("hw.memsize", &memory, &size, nullptr, 0), 0);
  EXPECT_EQ(memory, static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(number("hw.ncpu"), sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_EQ(number("hw.logicalcpu"), number("hw.ncpu"));
  EXPECT_GE(number("hw.physicalcpu"), 1);
  EXPECT_GE(number("hw.activecpu"), 1);
  EXPECT_LE(number("hw.activecpu"), number("hw.ncpu"));
  EXPECT_FALSE(text("hw.model").empty());
  EXPECT_FALSE(text("machdep.cpu.brand_string").empty());
  const auto version = NS::ProcessInfo::processInfo()->operatingSystemVersion();
  EXPECT_EQ(text("kern.osproductversion").substr(0, 3), std::to_string(version.majorVersion) + ".");
}

TEST(Sysctl, ALargeNumberThatFitsAnIntIsOneWhereThereIsRoomForAnInt) {
  EXPECT_EQ(number("hw.pagesize"), getpagesize());
  int64_t pages = 0;
  size_t size = sizeof pages;
  ASSERT_EQ(sysctlbyname("hw.pagesize", &pages, &size, nullptr, 0), 0);
  EXPECT_EQ(pages, getpagesize());
}

TEST(Sysctl, UnknownNamesChangesAndSmallBuffersAreErrors) {
  char buffer[2] = {};
  size_t size = sizeof buffer;
  errno = 0;
  EXPECT_EQ(sysctlbyname("hw.no_such_thing", buffer, &size, nullptr, 0), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(sysctlbyname("kern.ostype", buffer, &size, nullptr, 0), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(std::string(buffer, size), "Da");
  int wish = 1;
  EXPECT_EQ(sysctlbyname("hw.ncpu", nullptr, nullptr, &wish, sizeof wish), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(Sysctl, NumberedNamesAnswerLikeNames) {
  int name[2] = {CTL_HW, HW_MEMSIZE};
  int64_t memory = 0, by_name = 0;
  size_t size = sizeof memory;
  ASSERT_EQ(sysctl(name, 2, &memory, &size, nullptr, 0), 0);
  sysctlbyname("hw.memsize", &by_name, &size, nullptr, 0);
  EXPECT_EQ(memory, by_name);
  name[1] = 9999;
  EXPECT_EQ(sysctl(name, 2, &memory, &size, nullptr, 0), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(OsLog, MessagesGoToTheErrorStreamWithTheirLog) {
  const os_log_t log = os_log_create("com.example", "kernels");
  EXPECT_EQ(log, os_log_create("com.example", "kernels"));
  testing::internal::CaptureStderr();
  os_log_error(log, "%{public}s took %.1f ms, %d%%", "softmax", 2.5, 40);
  os_log(OS_LOG_DEFAULT, "plain");
  os_log(OS_LOG_DISABLED, "never");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[com.example:kernels] error: softmax took 2.5 ms, 40%\nplain\n");
  EXPECT_TRUE(os_log_debug_enabled(log));
  EXPECT_FALSE(os_log_debug_enabled(OS_LOG_DISABLED));
}

TEST(OsLog, SignpostsAreThereAndOff) {
  const os_log_t log = OS_LOG_DEFAULT;
  const os_signpost_id_t id = os_signpost_id_generate(log);
  os_signpost_interval_begin(log, id, "pass", "%d", 1);
  os_signpost_interval_end(log, id, "pass");
  EXPECT_FALSE(os_signpost_enabled(log));
}

TEST(CoreFoundation, CountsReferencesOfFoundationObjects) {
  NS::Array* array = NS::Array::alloc()->init();
  const auto count = CFGetRetainCount(array);
  EXPECT_EQ(CFRetain(array), array);
  EXPECT_EQ(CFGetRetainCount(array), count + 1);
  CFRelease(array);
  EXPECT_EQ(CFGetRetainCount(array), count);
  array->release();
}

TEST(CoreFoundation, TimeCountsFromTheYear2001) {
  const double unix_time = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(CFAbsoluteTimeGetCurrent() + kCFAbsoluteTimeIntervalSince1970, unix_time, 1.0);
}

TEST(TargetConditionals, ClaimTheMacWhoseMetalWeHave) {
  EXPECT_TRUE(TARGET_OS_OSX && TARGET_OS_MAC && !TARGET_OS_IPHONE && !TARGET_OS_SIMULATOR);
  const auto version = NS::ProcessInfo::processInfo()->operatingSystemVersion();
  EXPECT_EQ(__MAC_OS_X_VERSION_MAX_ALLOWED / 10000, version.majorVersion);
}

TEST(ObjectiveC, ItsWordsForNothingAndForTruthAreThere) {
  const NS::Error* error = nil;
  EXPECT_EQ(error, nullptr);
  EXPECT_TRUE(YES && !NO);
  int nil = 1;  // and a program's own variable may have the name
  EXPECT_EQ(nil, 1);
}

}  // namespace
