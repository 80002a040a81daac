// Why something did not work: a domain, a code in it, and a dictionary with sentences for people.
#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSPrivate.hpp"
#include "NSTypes.hpp"

namespace NS {

using ErrorDomain = class String*;

_NS_CONST(ErrorDomain, CocoaErrorDomain);
_NS_CONST(ErrorDomain, POSIXErrorDomain);
_NS_CONST(ErrorDomain, OSStatusErrorDomain);
_NS_CONST(ErrorDomain, MachErrorDomain);

using ErrorUserInfoKey = class String*;

_NS_CONST(ErrorUserInfoKey, UnderlyingErrorKey);
_NS_CONST(ErrorUserInfoKey, LocalizedDescriptionKey);
_NS_CONST(ErrorUserInfoKey, LocalizedFailureReasonErrorKey);
_NS_CONST(ErrorUserInfoKey, LocalizedRecoverySuggestionErrorKey);
_NS_CONST(ErrorUserInfoKey, LocalizedRecoveryOptionsErrorKey);
_NS_CONST(ErrorUserInfoKey, RecoveryAttempterErrorKey);
_NS_CONST(ErrorUserInfoKey, HelpAnchorErrorKey);
_NS_CONST(ErrorUserInfoKey, DebugDescriptionErrorKey);
_NS_CONST(ErrorUserInfoKey, LocalizedFailureErrorKey);
_NS_CONST(ErrorUserInfoKey, StringEncodingErrorKey);
_NS_CONST(ErrorUserInfoKey, URLErrorKey);
_NS_CONST(ErrorUserInfoKey, FilePathErrorKey);

class _NS_EXPORT Error : public Copying<Error> {
 public:
  static Error* error(ErrorDomain domain, Integer code, class Dictionary* pDictionary);

  static Error* alloc();
  Error* init();
  Error* init(ErrorDomain domain, Integer code, class Dictionary* pDictionary);

  Integer code() const;
  ErrorDomain domain() const;
  class Dictionary* userInfo() const;

  class String* localizedDescription() const;
  class Array* localizedRecoveryOptions() const;
  class String* localizedRecoverySuggestion() const;
  class String* localizedFailureReason() const;
};

}  // namespace NS
