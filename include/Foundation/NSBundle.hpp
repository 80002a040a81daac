// The folder of a program and of what belongs to it. A path that has the layout of a Mac application
// (Contents/MacOS, Contents/Resources) is read as one; of any other folder the resources are the folder itself. The
// main bundle is that of the running executable.
#pragma once

#include "NSDefines.hpp"
#include "NSNotification.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

_NS_CONST(NotificationName, BundleDidLoadNotification);
_NS_CONST(NotificationName, BundleResourceRequestLowDiskSpaceNotification);

_NS_EXPORT String* LocalizedString(const String* pKey, const String* pComment);
_NS_EXPORT String* LocalizedStringFromTable(const String* pKey, const String* pTbl, const String* pComment);
_NS_EXPORT String* LocalizedStringFromTableInBundle(const String* pKey, const String* pTbl, const class Bundle* pBdle,
                                                    const String* pComment);
_NS_EXPORT String* LocalizedStringWithDefaultValue(const String* pKey, const String* pTbl, const class Bundle* pBdle,
                                                   const String* pVal, const String* pComment);

class _NS_EXPORT Bundle : public Referencing<Bundle> {
 public:
  static Bundle* mainBundle();

  static Bundle* bundle(const class String* pPath);
  static Bundle* bundle(const class URL* pURL);

  static class Array* allBundles();
  static class Array* allFrameworks();

  static Bundle* alloc();

  Bundle* init(const class String* pPath);
  Bundle* init(const class URL* pURL);

  bool load();
  bool unload();

  bool isLoaded() const;

  bool preflightAndReturnError(class Error** pError) const;
  bool loadAndReturnError(class Error** pError);

  class URL* bundleURL() const;
  class URL* resourceURL() const;
  class URL* executableURL() const;
  class URL* URLForAuxiliaryExecutable(const class String* pExecutableName) const;

  class URL* privateFrameworksURL() const;
  class URL* sharedFrameworksURL() const;
  class URL* sharedSupportURL() const;
  class URL* builtInPlugInsURL() const;
  class URL* appStoreReceiptURL() const;

  class String* bundlePath() const;
  class String* resourcePath() const;
  class String* executablePath() const;
  class String* pathForAuxiliaryExecutable(const class String* pExecutableName) const;

  class String* privateFrameworksPath() const;
  class String* sharedFrameworksPath() const;
  class String* sharedSupportPath() const;
  class String* builtInPlugInsPath() const;

  // Info.plist is not read: there is no identifier, and the dictionary holds what the paths say.
  class String* bundleIdentifier() const;
  class Dictionary* infoDictionary() const;
  class Dictionary* localizedInfoDictionary() const;
  class Object* objectForInfoDictionaryKey(const class String* pKey);

  // There are no translations: the value, or without one the key.
  class String* localizedString(const class String* pKey, const class String* pValue = nullptr,
                                const class String* pTableName = nullptr) const;
};

}  // namespace NS
