#include "foundation/error.hpp"

#include <Foundation/NSArray.hpp>
#include <Foundation/NSDictionary.hpp>
#include <cstring>
#include <string>
#include <system_error>

#include "foundation/misuse.hpp"
#include "foundation/object.hpp"
#include "foundation/string.hpp"

namespace metalloid::foundation {
namespace {

class ErrorObject final : public NS::Error {
 public:
  NS::SharedPtr<NS::String> domain;
  NS::Integer code = 0;
  NS::SharedPtr<NS::Dictionary> user_info;

  template <class Class = NS::String>
  Class* info(const NS::String* key) const {
    return user_info ? dynamic_cast<Class*>(user_info->object(key)) : nullptr;
  }

  const char* className() const override { return "NSError"; }
  NS::UInteger contentHash() const override { return static_cast<NS::UInteger>(code); }
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
};

const ErrorObject* body(const NS::Error* error) {
  return static_cast<const ErrorObject*>(error);
}
ErrorObject* body(NS::Error* error) {
  return static_cast<ErrorObject*>(error);
}

bool ErrorObject::contentEquals(const NS::Object& other) const {
  const auto* error = dynamic_cast<const NS::Error*>(&other);
  if (!error || code != body(error)->code || !domain->isEqual(body(error)->domain.get())) return false;
  return user_info == body(error)->user_info || (user_info && user_info->isEqual(body(error)->user_info.get()));
}

NS::String* ErrorObject::contentDescription() const {
  std::string text = "Error Domain=" + std::string(text_of(domain.get())) + " Code=" + std::to_string(code) + " \"" +
                     std::string(text_of(localizedDescription())) + "\"";
  if (user_info && user_info->count() != 0) text += " UserInfo=" + std::string(text_of(user_info->description()));
  return autoreleased_string(text);
}

}  // namespace

NS::Error* autoreleased_error(NS::ErrorDomain domain, NS::Integer code, std::string_view description) {
  const auto text = NS::TransferPtr(new_string(description));
  const NS::Object* value = text.get();
  const NS::Object* key = NS::LocalizedDescriptionKey;
  const auto info = NS::TransferPtr(NS::Dictionary::alloc()->init(&value, &key, 1));
  return NS::Error::error(domain, code, info.get());
}

void set_error(NS::Error** error, NS::ErrorDomain domain, NS::Integer code, std::string_view description) {
  if (error) *error = autoreleased_error(domain, code, description);
}

}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

STRING_CONSTANT(CocoaErrorDomain, "NSCocoaErrorDomain")
STRING_CONSTANT(POSIXErrorDomain, "NSPOSIXErrorDomain")
STRING_CONSTANT(OSStatusErrorDomain, "NSOSStatusErrorDomain")
STRING_CONSTANT(MachErrorDomain, "NSMachErrorDomain")

STRING_CONSTANT(UnderlyingErrorKey, "NSUnderlyingError")
STRING_CONSTANT(LocalizedDescriptionKey, "NSLocalizedDescription")
STRING_CONSTANT(LocalizedFailureReasonErrorKey, "NSLocalizedFailureReason")
STRING_CONSTANT(LocalizedRecoverySuggestionErrorKey, "NSLocalizedRecoverySuggestion")
STRING_CONSTANT(LocalizedRecoveryOptionsErrorKey, "NSLocalizedRecoveryOptions")
STRING_CONSTANT(RecoveryAttempterErrorKey, "NSRecoveryAttempter")
STRING_CONSTANT(HelpAnchorErrorKey, "NSHelpAnchor")
STRING_CONSTANT(DebugDescriptionErrorKey, "NSDebugDescription")
STRING_CONSTANT(LocalizedFailureErrorKey, "NSLocalizedFailure")
STRING_CONSTANT(StringEncodingErrorKey, "NSStringEncoding")
STRING_CONSTANT(URLErrorKey, "NSURL")
STRING_CONSTANT(FilePathErrorKey, "NSFilePath")

Error* Error::error(ErrorDomain domain, Integer code, Dictionary* info) {
  return autoreleased(alloc()->init(domain, code, info));
}

Error* Error::alloc() {
  return new ErrorObject;
}

Error* Error::init() {
  return init(CocoaErrorDomain, 0, nullptr);
}

Error* Error::init(ErrorDomain domain, Integer code, Dictionary* info) {
  if (!domain) {
    report_misuse("-[NSError initWithDomain:code:userInfo:]", "domain is nil");
    return failed_init(this);
  }
  body(this)->domain = TransferPtr(domain->copy());
  body(this)->code = code;
  if (info) body(this)->user_info = TransferPtr(info->copy());
  return this;
}

Integer Error::code() const {
  const ErrorObject* self = body(this);
  return self ? self->code : 0;
}

ErrorDomain Error::domain() const {
  const ErrorObject* self = body(this);
  return self ? self->domain.get() : nullptr;
}

Dictionary* Error::userInfo() const {
  const ErrorObject* self = body(this);
  if (!self) return nullptr;
  return self->user_info ? self->user_info.get() : Dictionary::dictionary();
}

// What the dictionary says; else a sentence made of the failure and its reason, or of the domain and the code.
String* Error::localizedDescription() const {
  const ErrorObject* self = body(this);
  if (!self) return nullptr;
  if (String* description = self->info(LocalizedDescriptionKey)) return description;
  const String* failure = self->info(LocalizedFailureErrorKey);
  const String* reason = localizedFailureReason();
  std::string text(failure ? text_of(failure) : "The operation couldn’t be completed.");
  if (reason)
    text += " " + std::string(text_of(reason));
  else if (!failure)
    text += " (" + std::string(text_of(self->domain.get())) + " error " + std::to_string(self->code) + ".)";
  return autoreleased_string(text);
}

Array* Error::localizedRecoveryOptions() const {
  const ErrorObject* self = body(this);
  return self ? self->info<Array>(LocalizedRecoveryOptionsErrorKey) : nullptr;
}

String* Error::localizedRecoverySuggestion() const {
  const ErrorObject* self = body(this);
  return self ? self->info(LocalizedRecoverySuggestionErrorKey) : nullptr;
}

String* Error::localizedFailureReason() const {
  const ErrorObject* self = body(this);
  if (!self) return nullptr;
  if (String* reason = self->info(LocalizedFailureReasonErrorKey)) return reason;
  if (!self->domain->isEqual(POSIXErrorDomain)) return nullptr;
  return autoreleased_string(std::generic_category().message(static_cast<int>(self->code)));
}

}  // namespace NS
