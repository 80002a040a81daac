#include "metal/function_log.hpp"

#include "foundation/collection.hpp"
#include "foundation/string.hpp"

namespace metalloid::metal {
namespace {

class LocationObject final : public MTL::FunctionLogDebugLocation {
 public:
  SourceLocation location;
  NS::SharedPtr<NS::URL> url;  // null if the source was a string
  NS::SharedPtr<NS::String> function_name;

  const char* className() const override { return "MTLFunctionLogDebugLocation"; }
};

class FunctionLogObject final : public MTL::FunctionLog {
 public:
  NS::SharedPtr<LocationObject> location;
  NS::SharedPtr<NS::String> encoder_label, message;

  const char* className() const override { return "MTLFunctionLog"; }
  NS::String* contentDescription() const override { return message.get(); }
};

class LogContainerObject final : public MTL::LogContainer, public foundation::Collection {
 public:
  LogContainerObject() : MTL::LogContainer(nullptr) {}

  const char* className() const override { return "MTLLogContainer"; }
  NS::String* contentDescription() const override {
    std::string text;
    for (const auto& log : objects) text += std::string(foundation::text_of(log->description())) + "\n";
    return foundation::autoreleased_string(text);
  }
};

const LocationObject* body(const MTL::FunctionLogDebugLocation* location) {
  return static_cast<const LocationObject*>(location);
}
const FunctionLogObject* body(const MTL::FunctionLog* log) {
  return static_cast<const FunctionLogObject*>(log);
}

NS::SharedPtr<NS::Object> new_log(const device::Log& log) {
  auto object = NS::TransferPtr(new FunctionLogObject);
  if (!log.encoder_label.empty()) object->encoder_label = NS::TransferPtr(foundation::new_string(log.encoder_label));
  object->message = NS::TransferPtr(foundation::new_string(log.message));
  object->location = NS::TransferPtr(new LocationObject);
  object->location->location = log.location;
  object->location->function_name = NS::TransferPtr(foundation::new_string(log.kernel));
  if (log.location.file.starts_with('/')) {
    const auto path = NS::TransferPtr(foundation::new_string(log.location.file));
    object->location->url = NS::TransferPtr(NS::URL::alloc()->initFileURLWithPath(path.get()));
  }
  return object;
}

}  // namespace

MTL::LogContainer* autoreleased_logs(const std::vector<device::Log>& logs) {
  auto* container = new LogContainerObject;
  for (const device::Log& log : logs) container->objects.push_back(new_log(log));
  return foundation::autoreleased(container);
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

FunctionLogDebugLocation* FunctionLog::debugLocation() const {
  const FunctionLogObject* self = body(this);
  return self ? self->location.get() : nullptr;
}

NS::String* FunctionLog::encoderLabel() const {
  const FunctionLogObject* self = body(this);
  return self ? self->encoder_label.get() : nullptr;
}

// A pipeline does not keep the function it was made from; its name is in the location.
Function* FunctionLog::function() const {
  return nullptr;
}

FunctionLogType FunctionLog::type() const {
  return FunctionLogTypeValidation;
}

NS::URL* FunctionLogDebugLocation::URL() const {
  const LocationObject* self = body(this);
  return self ? self->url.get() : nullptr;
}

NS::String* FunctionLogDebugLocation::functionName() const {
  const LocationObject* self = body(this);
  return self ? self->function_name.get() : nullptr;
}

NS::UInteger FunctionLogDebugLocation::line() const {
  const LocationObject* self = body(this);
  return self ? self->location.line : 0;
}

NS::UInteger FunctionLogDebugLocation::column() const {
  const LocationObject* self = body(this);
  return self ? self->location.column : 0;
}

}  // namespace MTL
