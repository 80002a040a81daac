// What sysctlbyname() knows, each name with the function that finds it out when it is asked for.
#include <sched.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <Foundation/NSProcessInfo.hpp>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace {

using Value = std::variant<int, long long, std::string>;

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int logical_processors() {
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

int active_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : logical_processors();
}

// Processors that share a core of a package are one.
int physical_processors() {
  std::set<std::pair<std::string, std::string>> cores;
  for (int i = 0; i < static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)); ++i) {
    const std::filesystem::path topology = "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology";
    const std::string core = first_line(topology / "core_id");
    if (!core.empty()) cores.emplace(first_line(topology / "physical_package_id"), core);
  }
  return cores.empty() ? logical_processors() : static_cast<int>(cores.size());
}

std::string machine() {
  utsname names{};
  uname(&names);
  const std::string_view name = names.machine;
  return name == "aarch64" ? "arm64" : std::string(name);
}

std::string model() {
  const std::string name = first_line("/sys/devices/virtual/dmi/id/product_name");
  return name.empty() ? machine() : name;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return machine();
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string macos_version() {
  const NS::OperatingSystemVersion version = NS::ProcessInfo::processInfo()->operatingSystemVersion();
  std::string text = std::to_string(version.majorVersion) + "." + std::to_string(version.minorVersion);
  if (version.patchVersion != 0) text += "." + std::to_string(version.patchVersion);
  return text;
}

std::optional<Value> cache(int name) {
  const long size = sysconf(name);
  if (size <= 0) return std::nullopt;
  return static_cast<long long>(size);
}

struct Entry {
  std::string_view name;
  std::optional<Value> (*find)();
};

constexpr Entry entries[] = {
    {"hw.activecpu", [] { return std::optional<Value>(active_processors()); }},
    {"hw.availcpu", [] { return std::optional<Value>(active_processors()); }},
    {"hw.byteorder", [] { return std::optional<Value>(1234); }},
    {"hw.cachelinesize", [] { return cache(_SC_LEVEL1_DCACHE_LINESIZE); }},
    {"hw.l1dcachesize", [] { return cache(_SC_LEVEL1_DCACHE_SIZE); }},
    {"hw.l1icachesize", [] { return cache(_SC_LEVEL1_ICACHE_SIZE); }},
    {"hw.l2cachesize", [] { return cache(_SC_LEVEL2_CACHE_SIZE); }},
    {"hw.l3cachesize", [] { return cache(_SC_LEVEL3_CACHE_SIZE); }},
    {"hw.logicalcpu", [] { return std::optional<Value>(logical_processors()); }},
    {"hw.logicalcpu_max", [] { return std::optional<Value>(logical_processors()); }},
    {"hw.machine", [] { return std::optional<Value>(machine()); }},
    {"hw.memsize",
     [] { return std::optional<Value>(static_cast<long long>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)); }},
    {"hw.model", [] { return std::optional<Value>(model()); }},
    {"hw.ncpu", [] { return std::optional<Value>(logical_processors()); }},
    {"hw.nperflevels", [] { return std::optional<Value>(1); }},
#ifdef __aarch64__
    {"hw.optional.arm64", [] { return std::optional<Value>(1); }},
#endif
    {"hw.pagesize", [] { return std::optional<Value>(static_cast<long long>(sysconf(_SC_PAGESIZE))); }},
    {"hw.perflevel0.logicalcpu", [] { return std::optional<Value>(logical_processors()); }},
    {"hw.perflevel0.physicalcpu", [] { return std::optional<Value>(physical_processors()); }},
    {"hw.physicalcpu", [] { return std::optional<Value>(physical_processors()); }},
    {"hw.physicalcpu_max", [] { return std::optional<Value>(physical_processors()); }},
    {"hw.tbfrequency", [] { return std::optional<Value>(1'000'000'000ll); }},
    {"kern.hostname", [] { return std::optional<Value>(host_name()); }},
    {"kern.osproductversion", [] { return std::optional<Value>(macos_version()); }},
    {"kern.osrelease", [] { return std::optional<Value>("24.0.0"); }},
    {"kern.ostype", [] { return std::optional<Value>("Darwin"); }},
    {"kern.osversion", [] { return std::optional<Value>("24A335"); }},
    {"machdep.cpu.brand_string", [] { return std::optional<Value>(processor_name()); }},
    {"machdep.cpu.core_count", [] { return std::optional<Value>(physical_processors()); }},
    {"machdep.cpu.thread_count", [] { return std::optional<Value>(logical_processors()); }},
};

struct NumberedName {
  int kind;
  int item;
  const char* name;
};

constexpr NumberedName numbered_names[] = {
    {CTL_KERN, KERN_OSTYPE, "kern.ostype"},
    {CTL_KERN, KERN_OSRELEASE, "kern.osrelease"},
    {CTL_KERN, KERN_HOSTNAME, "kern.hostname"},
    {CTL_KERN, KERN_OSVERSION, "kern.osversion"},
    {CTL_HW, HW_MACHINE, "hw.machine"},
    {CTL_HW, HW_MODEL, "hw.model"},
    {CTL_HW, HW_NCPU, "hw.ncpu"},
    {CTL_HW, HW_BYTEORDER, "hw.byteorder"},
    {CTL_HW, HW_PAGESIZE, "hw.pagesize"},
    {CTL_HW, HW_MEMSIZE, "hw.memsize"},
    {CTL_HW, HW_AVAILCPU, "hw.availcpu"},
};

int fail(int error) {
  errno = error;
  return -1;
}

int give(const void* bytes, std::size_t count, void* destination, std::size_t* size) {
  if (!size) return 0;
  if (!destination) {
    *size = count;
    return 0;
  }
  const std::size_t room = *size;
  *size = room < count ? room : count;
  std::memcpy(destination, bytes, *size);
  return room < count ? fail(ENOMEM) : 0;
}

// A program that has room for an int gets a large number as an int, if it fits.
int give(const Value& value, void* destination, std::size_t* size) {
  if (const auto* text = std::get_if<std::string>(&value))
    return give(text->c_str(), text->size() + 1, destination, size);
  if (const int* number = std::get_if<int>(&value)) return give(number, sizeof *number, destination, size);
  const long long number = std::get<long long>(value);
  if (destination && size && *size == sizeof(int) && number <= INT_MAX) {
    const int small = static_cast<int>(number);
    return give(&small, sizeof small, destination, size);
  }
  return give(&number, sizeof number, destination, size);
}

}  // namespace

int sysctlbyname(const char* name, void* value, size_t* size, void* new_value, size_t) {
  for (const Entry& entry : entries) {
    if (entry.name != name) continue;
    if (new_value) return fail(EPERM);
    const auto found = entry.find();
    return found ? give(*found, value, size) : fail(ENOENT);
  }
  return fail(ENOENT);
}

int sysctl(int* name, unsigned name_length, void* value, size_t* size, void* new_value, size_t new_size) {
  if (name_length != 2) return fail(ENOENT);
  for (const NumberedName& entry : numbered_names)
    if (entry.kind == name[0] && entry.item == name[1])
      return sysctlbyname(entry.name, value, size, new_value, new_size);
  return fail(ENOENT);
}
