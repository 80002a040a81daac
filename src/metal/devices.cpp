// Which devices there are, and which of them programs get: the best one first, unless METALLOID_DEVICE names another
// by a part of its name or architecture ("cpu", "nvidia", "sm_90").
#include "metal/devices.hpp"

#include <Metal/MTLDevice.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/cpu_device.hpp"
#include "foundation/string.hpp"
#include "metal/device.hpp"
#include "nvidia/nvidia_device.hpp"

namespace metalloid::metal {
namespace {

// Made once; they live until the process ends.
const std::vector<DeviceObject*>& all_devices() {
  static const auto* const devices = [] {
    auto* all = new std::vector<DeviceObject*>;
    for (auto& gpu : nvidia::make_devices()) all->push_back(new DeviceObject(std::move(gpu)));
    all->push_back(new DeviceObject(cpu::make_device()));
    return all;
  }();
  return *devices;
}

bool contains(std::string_view text, std::string_view fragment) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return !std::ranges::search(text, fragment, same).empty();
}

bool is_named(const DeviceObject* device, std::string_view fragment) {
  return contains(device->info().name, fragment) || contains(device->info().architecture, fragment);
}

void report_unknown(std::string_view wanted) {
  std::string known;
  for (const DeviceObject* device : all_devices()) known += (known.empty() ? "" : ", ") + device->info().name;
  std::fprintf(stderr, "metalloid: METALLOID_DEVICE is '%.*s', which is part of no device's name; there are: %s\n",
               static_cast<int>(wanted.size()), wanted.data(), known.c_str());
  if (const std::string reason = nvidia::why_there_are_none(); contains(wanted, "nvidia") && !reason.empty())
    std::fprintf(stderr, "metalloid: why there is no NVIDIA device: %s\n", reason.c_str());
}

// In the order of preference. With METALLOID_DEVICE, those that it names come first; if it names none, there are none.
std::vector<DeviceObject*> preferred_devices() {
  std::vector<DeviceObject*> devices = all_devices();
  const char* wanted = std::getenv("METALLOID_DEVICE");
  if (!wanted || !*wanted) return devices;
  const auto is_wanted = [&](const DeviceObject* device) { return is_named(device, wanted); };
  if (std::ranges::none_of(devices, is_wanted)) {
    report_unknown(wanted);
    return {};
  }
  std::ranges::stable_partition(devices, is_wanted);
  return devices;
}

}  // namespace

std::shared_ptr<device::Device> device_named(std::string_view fragment) {
  for (const DeviceObject* device : all_devices())
    if (is_named(device, fragment)) return device->device;
  return nullptr;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::foundation;
using namespace metalloid::metal;

STRING_CONSTANT(DeviceWasAddedNotification, "MTLDeviceWasAddedNotification")
STRING_CONSTANT(DeviceRemovalRequestedNotification, "MTLDeviceRemovalRequestedNotification")
STRING_CONSTANT(DeviceWasRemovedNotification, "MTLDeviceWasRemovedNotification")

Device* CreateSystemDefaultDevice() {
  const auto devices = preferred_devices();
  return devices.empty() ? nullptr : devices.front()->retain();
}

NS::Array* CopyAllDevices() {
  const auto devices = preferred_devices();
  const std::vector<const NS::Object*> objects(devices.begin(), devices.end());
  return NS::Array::alloc()->init(objects.data(), objects.size());
}

// Devices neither come nor go while a process runs, so an observer is never told anything.
NS::Array* CopyAllDevicesWithObserver(NS::Object** observer, const DeviceNotificationHandlerFunction&) {
  if (observer) *observer = NS::String::string();
  return CopyAllDevices();
}

void RemoveDeviceObserver(const NS::Object*) {}

}  // namespace MTL
