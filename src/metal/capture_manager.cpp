// Captures that programs start themselves. As on a Mac, the environment must allow it (MTL_CAPTURE_ENABLED=1 or
// METAL_CAPTURE_ENABLED=1), and there is one at a time. What is written is a trace (trace.hpp), whatever the file is
// called: the format of Xcode's documents is not public, and there is no Xcode to show one.
//
// A capture of a scope waits for the scope's next beginScope() and stops at its endScope().
#include <Metal/MTLCaptureManager.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/error.hpp"
#include "foundation/string.hpp"
#include "metal/capture_scope.hpp"
#include "metal/device.hpp"
#include "metal/property.hpp"
#include "metal/queue.hpp"
#include "metal/running_trace.hpp"

namespace metalloid::metal {
namespace {

STRING_CONSTANT(capture_domain, "MTLCaptureErrorDomain")

struct CaptureProperties {
  static constexpr const char* class_name = "MTLCaptureDescriptor";
  NS::SharedPtr<NS::Object> captureObject;
  MTL::CaptureDestination destination = MTL::CaptureDestinationDeveloperTools;
  Copied<NS::URL> outputURL;
};

// An error with the code that Metal gives it.
struct Refusal {
  MTL::CaptureError code;
  std::string reason;
};

bool capture_is_enabled() {
  for (const char* variable : {"MTL_CAPTURE_ENABLED", "METAL_CAPTURE_ENABLED"}) {
    const char* value = std::getenv(variable);
    if (value && *value && std::string_view(value) != "0") return true;
  }
  return false;
}

class CaptureManagerObject final : public MTL::CaptureManager {
 public:
  static CaptureManagerObject& shared() {
    static auto* const manager = new CaptureManagerObject;
    return *manager;
  }

  bool is_capturing() {
    std::lock_guard lock(mutex_);
    return trace_ != nullptr;
  }

  std::optional<Refusal> start(const CaptureProperties& asked) {
    if (asked.destination != MTL::CaptureDestinationGPUTraceDocument)
      return Refusal{MTL::CaptureErrorNotSupported,
                     "there are no developer tools to capture to here; set the descriptor's destination to "
                     "CaptureDestinationGPUTraceDocument and its outputURL to a file (it opens in ui.perfetto.dev)"};
    if (!capture_is_enabled())
      return Refusal{MTL::CaptureErrorNotSupported,
                     "capturing is not enabled; set MTL_CAPTURE_ENABLED=1 in the program's environment"};
    const char* path = asked.outputURL ? asked.outputURL->fileSystemRepresentation() : nullptr;
    if (!path) return Refusal{MTL::CaptureErrorInvalidDescriptor, "the descriptor's outputURL is not that of a file"};
    const std::optional<TraceSubject> subject = subject_of(asked.captureObject.get());
    if (!subject)
      return Refusal{MTL::CaptureErrorInvalidDescriptor,
                     "the descriptor's captureObject must be a device, a command queue or a capture scope"};
    std::lock_guard lock(mutex_);
    if (trace_) return Refusal{MTL::CaptureErrorAlreadyCapturing, "a capture is running already"};
    auto trace = start_trace(path, *subject);
    if (!trace) return Refusal{MTL::CaptureErrorInvalidDescriptor, trace.error()};
    trace_ = std::move(*trace);
    object_ = asked.captureObject;
    return std::nullopt;
  }

  void stop() {
    std::shared_ptr<Trace> trace;
    NS::SharedPtr<NS::Object> object;
    {
      std::lock_guard lock(mutex_);
      trace.swap(trace_);
      std::swap(object, object_);
    }
    if (trace) stop_trace(trace);
  }

  void scope_begins(const CaptureScopeObject& scope) {
    std::lock_guard lock(mutex_);
    if (trace_ && object_.get() == &scope) trace_->record(true);
  }

  void scope_ends(const CaptureScopeObject& scope) {
    {
      std::lock_guard lock(mutex_);
      if (!trace_ || object_.get() != &scope || !trace_->is_recording()) return;
    }
    stop();
  }

  NS::SharedPtr<MTL::CaptureScope> default_scope() {
    std::lock_guard lock(mutex_);
    return default_scope_;
  }

  void set_default_scope(const MTL::CaptureScope* scope) {
    std::lock_guard lock(mutex_);
    default_scope_ = foundation::retained(scope);
  }

  const char* className() const override { return "MTLCaptureManager"; }

 private:
  static std::optional<TraceSubject> subject_of(const NS::Object* object) {
    if (const auto* device = dynamic_cast<const DeviceObject*>(object)) return TraceSubject{.device = device};
    if (const auto* queue = dynamic_cast<const CommandQueueObject*>(object)) return TraceSubject{.queue = queue};
    if (const auto* scope = dynamic_cast<const CaptureScopeObject*>(object))
      return TraceSubject{.device = scope->device, .queue = scope->queue.get(), .from_the_start = false};
    return std::nullopt;
  }

  std::mutex mutex_;
  std::shared_ptr<Trace> trace_;      // null unless capturing
  NS::SharedPtr<NS::Object> object_;  // what is captured
  NS::SharedPtr<MTL::CaptureScope> default_scope_;
};

CaptureManagerObject* body(const MTL::CaptureManager* manager) {
  return static_cast<CaptureManagerObject*>(const_cast<MTL::CaptureManager*>(manager));
}

}  // namespace

PROPERTIES(CaptureDescriptor, CaptureProperties)

void scope_begins(const CaptureScopeObject& scope) {
  CaptureManagerObject::shared().scope_begins(scope);
}

void scope_ends(const CaptureScopeObject& scope) {
  CaptureManagerObject::shared().scope_ends(scope);
}

// The calls of old capture for Xcode and cannot answer with an error.
static void start_for_developer_tools(MTL::CaptureManager* manager, const NS::Object* object) {
  CaptureManagerObject* self = body(manager);
  if (!self) return;
  CaptureProperties asked;  // which are for developer tools unless they say otherwise
  asked.captureObject = foundation::retained(object);
  const auto refusal = self->start(asked);
  if (refusal) std::fprintf(stderr, "metalloid: MTL::CaptureManager::startCapture: %s\n", refusal->reason.c_str());
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid;
using namespace metalloid::metal;

ALLOC(CaptureDescriptor)
READ_PROPERTY(CaptureDescriptor, captureObject)
PROPERTY(CaptureDescriptor, destination, setDestination)
PROPERTY(CaptureDescriptor, outputURL, setOutputURL)

void CaptureDescriptor::setCaptureObject(NS::Object* object) {
  if (auto* self = properties(this)) self->captureObject = foundation::retained(object);
}

CaptureManager* CaptureManager::sharedCaptureManager() {
  return &CaptureManagerObject::shared();
}

CaptureManager* CaptureManager::alloc() {
  return sharedCaptureManager()->retain();
}

CaptureManager* CaptureManager::init() {
  return this;
}

CaptureScope* CaptureManager::defaultCaptureScope() const {
  CaptureManagerObject* self = body(this);
  return self ? self->default_scope().get() : nullptr;
}

void CaptureManager::setDefaultCaptureScope(const CaptureScope* scope) {
  if (CaptureManagerObject* self = body(this)) self->set_default_scope(scope);
}

bool CaptureManager::isCapturing() const {
  CaptureManagerObject* self = body(this);
  return self && self->is_capturing();
}

CaptureScope* CaptureManager::newCaptureScope(const Device* device) {
  if (!body(this) || !device) return nullptr;
  return new CaptureScopeObject(*body(const_cast<Device*>(device)), nullptr);
}

CaptureScope* CaptureManager::newCaptureScope(const CommandQueue* queue) {
  if (!body(this) || !queue) return nullptr;
  const auto object = NS::RetainPtr(body(const_cast<CommandQueue*>(queue)));
  return new CaptureScopeObject(*object->device, object);
}

bool CaptureManager::startCapture(const CaptureDescriptor* descriptor, NS::Error** error) {
  CaptureManagerObject* self = body(this);
  if (!self) return false;
  const auto* asked = properties(descriptor);
  const auto refusal =
      asked ? self->start(*asked) : Refusal{CaptureErrorInvalidDescriptor, "the capture descriptor is null"};
  if (!refusal) return true;
  foundation::set_error(error, capture_domain, static_cast<NS::Integer>(refusal->code), refusal->reason);
  return false;
}

void CaptureManager::startCapture(const Device* device) {
  start_for_developer_tools(this, device);
}

void CaptureManager::startCapture(const CommandQueue* queue) {
  start_for_developer_tools(this, queue);
}

void CaptureManager::startCapture(const CaptureScope* scope) {
  start_for_developer_tools(this, scope);
}

void CaptureManager::stopCapture() {
  if (CaptureManagerObject* self = body(this)) self->stop();
}

bool CaptureManager::supportsDestination(CaptureDestination destination) {
  return body(this) && destination == CaptureDestinationGPUTraceDocument && capture_is_enabled();
}

}  // namespace MTL
