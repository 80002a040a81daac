// The process and the machine it runs on. The version of the operating system is that of the macOS whose Metal this
// is: programs ask for it to learn which features they may use.
#pragma once

#include <functional>

#include "NSDefines.hpp"
#include "NSNotification.hpp"
#include "NSObject.hpp"
#include "NSPrivate.hpp"
#include "NSTypes.hpp"

namespace NS {

_NS_CONST(NotificationName, ProcessInfoThermalStateDidChangeNotification);
_NS_CONST(NotificationName, ProcessInfoPowerStateDidChangeNotification);
_NS_CONST(NotificationName, ProcessInfoPerformanceProfileDidChangeNotification);

_NS_ENUM(NS::Integer, ProcessInfoThermalState){
    ProcessInfoThermalStateNominal = 0,
    ProcessInfoThermalStateFair = 1,
    ProcessInfoThermalStateSerious = 2,
    ProcessInfoThermalStateCritical = 3,
};

_NS_OPTIONS(std::uint64_t, ActivityOptions){
    ActivityIdleDisplaySleepDisabled = (1ULL << 40),
    ActivityIdleSystemSleepDisabled = (1ULL << 20),
    ActivitySuddenTerminationDisabled = (1ULL << 14),
    ActivityAutomaticTerminationDisabled = (1ULL << 15),
    ActivityUserInitiated = (0x00FFFFFFULL | ActivityIdleSystemSleepDisabled),
    ActivityUserInitiatedAllowingIdleSystemSleep = (ActivityUserInitiated & ~ActivityIdleSystemSleepDisabled),
    ActivityBackground = 0x000000FFULL,
    ActivityLatencyCritical = 0xFF00000000ULL,
};

using DeviceCertification = NS::Integer;
_NS_CONST(DeviceCertification, DeviceCertificationiPhonePerformanceGaming);

using ProcessPerformanceProfile = NS::Integer;
_NS_CONST(ProcessPerformanceProfile, ProcessPerformanceProfileDefault);
_NS_CONST(ProcessPerformanceProfile, ProcessPerformanceProfileSustained);

class _NS_EXPORT ProcessInfo : public Referencing<ProcessInfo> {
 public:
  static ProcessInfo* processInfo();

  class Array* arguments() const;
  class Dictionary* environment() const;
  class String* hostName() const;
  class String* processName() const;
  void setProcessName(const String* pString);
  int processIdentifier() const;
  class String* globallyUniqueString() const;

  class String* userName() const;
  class String* fullUserName() const;

  UInteger operatingSystem() const;
  OperatingSystemVersion operatingSystemVersion() const;
  class String* operatingSystemVersionString() const;
  bool isOperatingSystemAtLeastVersion(OperatingSystemVersion version) const;

  UInteger processorCount() const;
  UInteger activeProcessorCount() const;
  unsigned long long physicalMemory() const;
  TimeInterval systemUptime() const;

  void disableSuddenTermination();
  void enableSuddenTermination();

  void disableAutomaticTermination(const class String* pReason);
  void enableAutomaticTermination(const class String* pReason);
  bool automaticTerminationSupportEnabled() const;
  void setAutomaticTerminationSupportEnabled(bool enabled);

  class Object* beginActivity(ActivityOptions options, const class String* pReason);
  void endActivity(class Object* pActivity);
  void performActivity(ActivityOptions options, const class String* pReason, const std::function<void()>& func);
  void performExpiringActivity(const class String* pReason, const std::function<void(bool expired)>& func);
#ifdef __BLOCKS__
  void performActivity(ActivityOptions options, const class String* pReason, void (^block)(void)) {
    performActivity(options, pReason, Private::functionFromBlock(block));
  }
  void performExpiringActivity(const class String* pReason, void (^block)(bool expired)) {
    performExpiringActivity(pReason, Private::functionFromBlock(block));
  }
#endif

  ProcessInfoThermalState thermalState() const;
  bool isLowPowerModeEnabled() const;

  bool isiOSAppOnMac() const;
  bool isMacCatalystApp() const;

  bool isDeviceCertified(DeviceCertification performanceTier) const;
  bool hasPerformanceProfile(ProcessPerformanceProfile performanceProfile) const;
};

}  // namespace NS
