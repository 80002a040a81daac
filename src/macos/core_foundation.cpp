#include <CoreFoundation/CoreFoundation.h>
#include <time.h>

#include <Foundation/NSObject.hpp>

namespace {

NS::Object* object_of(CFTypeRef reference) {
  return static_cast<NS::Object*>(const_cast<void*>(reference));
}

}  // namespace

const CFTimeInterval kCFAbsoluteTimeIntervalSince1970 = 978307200;

CFTypeRef CFRetain(CFTypeRef object) {
  return object_of(object)->retain();
}

void CFRelease(CFTypeRef object) {
  object_of(object)->release();
}

CFIndex CFGetRetainCount(CFTypeRef object) {
  return static_cast<CFIndex>(object_of(object)->retainCount());
}

CFAbsoluteTime CFAbsoluteTimeGetCurrent() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) - kCFAbsoluteTimeIntervalSince1970 + static_cast<double>(now.tv_nsec) * 1e-9;
}
