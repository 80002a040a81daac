#include <pwd.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <Foundation/NSArray.hpp>
#include <Foundation/NSDictionary.hpp>
#include <Foundation/NSProcessInfo.hpp>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <tuple>
#include <vector>

#include "foundation/array.hpp"
#include "foundation/encoding.hpp"
#include "foundation/misuse.hpp"
#include "foundation/object.hpp"
#include "foundation/string.hpp"

extern char** environ;

namespace metalloid::foundation {
namespace {

class ProcessInfoObject final : public NS::ProcessInfo {
 public:
  mutable std::mutex mutex;
  std::optional<std::string> name;
  std::atomic<bool> automatic_termination = false;
  mutable std::atomic<unsigned> unique_strings = 0;

  const char* className() const override { return "NSProcessInfo"; }
};

class ActivityObject final : public NS::Object {
  const char* className() const override { return "NSProcessInfoActivity"; }
};

const ProcessInfoObject* body(const NS::ProcessInfo* info) {
  return static_cast<const ProcessInfoObject*>(info);
}
ProcessInfoObject* body(NS::ProcessInfo* info) {
  return static_cast<ProcessInfoObject*>(info);
}

// What the system hands us is bytes, almost always UTF-8; if not, every byte is a character.
NS::String* string_from_system(std::string_view bytes) {
  const auto text = is_valid_utf8(bytes) ? std::string(bytes) : *decode(bytes, NS::ISOLatin1StringEncoding);
  return autoreleased_string(text);
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < bytes.size();) {
    arguments.emplace_back(bytes.c_str() + at);
    at += arguments.back().size() + 1;
  }
  return arguments;
}

std::string name_from_command_line() {
  const auto arguments = command_line();
  return arguments.empty() ? "" : arguments[0].substr(arguments[0].rfind('/') + 1);
}

struct User {
  std::string name;
  std::string full_name;
};

User current_user() {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
    return {std::to_string(getuid()), ""};
  const std::string details = found->pw_gecos ? found->pw_gecos : "";
  return {found->pw_name, details.substr(0, details.find(','))};
}

// The macOS whose Metal we implement.
constexpr NS::OperatingSystemVersion version = {15, 0, 0};

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

STRING_CONSTANT(ProcessInfoThermalStateDidChangeNotification, "NSProcessInfoThermalStateDidChangeNotification")
STRING_CONSTANT(ProcessInfoPowerStateDidChangeNotification, "NSProcessInfoPowerStateDidChangeNotification")
STRING_CONSTANT(ProcessInfoPerformanceProfileDidChangeNotification,
                "NSProcessInfoPerformanceProfileDidChangeNotification")

const DeviceCertification DeviceCertificationiPhonePerformanceGaming = 1;
const ProcessPerformanceProfile ProcessPerformanceProfileDefault = 0;
const ProcessPerformanceProfile ProcessPerformanceProfileSustained = 1;

ProcessInfo* ProcessInfo::processInfo() {
  static ProcessInfoObject& object = *new ProcessInfoObject;
  return &object;
}

Array* ProcessInfo::arguments() const {
  std::vector<SharedPtr<Object>> strings;
  for (const std::string& argument : command_line()) strings.push_back(RetainPtr<Object>(string_from_system(argument)));
  return autoreleased_array(std::move(strings));
}

Dictionary* ProcessInfo::environment() const {
  std::vector<const Object*> names, values;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text(*variable);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    names.push_back(string_from_system(text.substr(0, equals)));
    values.push_back(string_from_system(text.substr(equals + 1)));
  }
  return Dictionary::dictionary(values.data(), names.data(), names.size());
}

String* ProcessInfo::hostName() const {
  char name[256] = {};
  return string_from_system(gethostname(name, sizeof name - 1) == 0 ? name : "localhost");
}

String* ProcessInfo::processName() const {
  const ProcessInfoObject* self = body(this);
  if (!self) return nullptr;
  const std::lock_guard lock(self->mutex);
  return string_from_system(self->name ? *self->name : name_from_command_line());
}

void ProcessInfo::setProcessName(const String* name) {
  ProcessInfoObject* self = body(this);
  if (!self || !name) return;
  const std::lock_guard lock(self->mutex);
  self->name = text_of(name);
}

int ProcessInfo::processIdentifier() const {
  return getpid();
}

String* ProcessInfo::globallyUniqueString() const {
  const ProcessInfoObject* self = body(this);
  if (!self) return nullptr;
  std::random_device random;
  char text[80];
  std::snprintf(text, sizeof text, "%08X-%04X-4%03X-%04X-%08X%04X-%d-%016llX", random(), random() & 0xFFFF,
                random() & 0xFFF, (random() & 0x3FFF) | 0x8000, random(), random() & 0xFFFF, getpid(),
                static_cast<unsigned long long>(self->unique_strings++));
  return autoreleased_string(text);
}

String* ProcessInfo::userName() const {
  return string_from_system(current_user().name);
}

String* ProcessInfo::fullUserName() const {
  return string_from_system(current_user().full_name);
}

UInteger ProcessInfo::operatingSystem() const {
  return 5;
}  // NSMACHOperatingSystem

OperatingSystemVersion ProcessInfo::operatingSystemVersion() const {
  return version;
}

String* ProcessInfo::operatingSystemVersionString() const {
  utsname host{};
  uname(&host);
  return autoreleased_string("Version " + std::to_string(version.majorVersion) + "." +
                             std::to_string(version.minorVersion) + " (" + host.sysname + " " + host.release + ")");
}

bool ProcessInfo::isOperatingSystemAtLeastVersion(OperatingSystemVersion asked) const {
  const auto parts = [](const OperatingSystemVersion& v) {
    return std::tuple(v.majorVersion, v.minorVersion, v.patchVersion);
  };
  return parts(version) >= parts(asked);
}

UInteger ProcessInfo::processorCount() const {
  return static_cast<UInteger>(sysconf(_SC_NPROCESSORS_CONF));
}

UInteger ProcessInfo::activeProcessorCount() const {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<UInteger>(CPU_COUNT(&allowed));
  return static_cast<UInteger>(sysconf(_SC_NPROCESSORS_ONLN));
}

unsigned long long ProcessInfo::physicalMemory() const {
  return static_cast<unsigned long long>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<unsigned long long>(sysconf(_SC_PAGESIZE));
}

TimeInterval ProcessInfo::systemUptime() const {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Nothing here ends processes on its own, and nothing saves power behind a program's back: there is nothing to hold
// off.
void ProcessInfo::disableSuddenTermination() {}
void ProcessInfo::enableSuddenTermination() {}
void ProcessInfo::disableAutomaticTermination(const String*) {}
void ProcessInfo::enableAutomaticTermination(const String*) {}

bool ProcessInfo::automaticTerminationSupportEnabled() const {
  const ProcessInfoObject* self = body(this);
  return self && self->automatic_termination;
}

void ProcessInfo::setAutomaticTerminationSupportEnabled(bool enabled) {
  if (ProcessInfoObject* self = body(this)) self->automatic_termination = enabled;
}

Object* ProcessInfo::beginActivity(ActivityOptions, const String*) {
  return (new ActivityObject)->autorelease();
}

void ProcessInfo::endActivity(Object*) {}

void ProcessInfo::performActivity(ActivityOptions, const String*, const std::function<void()>& function) {
  if (function) function();
}

void ProcessInfo::performExpiringActivity(const String*, const std::function<void(bool)>& function) {
  if (function) function(false);
}

ProcessInfoThermalState ProcessInfo::thermalState() const {
  return ProcessInfoThermalStateNominal;
}

bool ProcessInfo::isLowPowerModeEnabled() const {
  return false;
}

bool ProcessInfo::isiOSAppOnMac() const {
  return false;
}

bool ProcessInfo::isMacCatalystApp() const {
  return false;
}

bool ProcessInfo::isDeviceCertified(DeviceCertification) const {
  return false;
}

bool ProcessInfo::hasPerformanceProfile(ProcessPerformanceProfile) const {
  return false;
}

}  // namespace NS
