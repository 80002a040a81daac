#include <dlfcn.h>

#include <Foundation/NSArray.hpp>
#include <Foundation/NSBundle.hpp>
#include <Foundation/NSDictionary.hpp>
#include <Foundation/NSURL.hpp>
#include <filesystem>
#include <mutex>
#include <vector>

#include "foundation/array.hpp"
#include "foundation/error.hpp"
#include "foundation/misuse.hpp"
#include "foundation/notification.hpp"
#include "foundation/object.hpp"
#include "foundation/string.hpp"

namespace fs = std::filesystem;

namespace metalloid::foundation {
namespace {

class BundleObject final : public NS::Bundle {
 public:
  fs::path root;        // what bundlePath() says
  fs::path contents;    // root/Contents in a Mac application, else root
  fs::path executable;  // empty if there is none
  bool is_main = false;

  mutable std::mutex mutex;
  void* loaded = nullptr;

  bool has_mac_layout() const { return contents != root; }
  fs::path resources() const { return has_mac_layout() ? contents / "Resources" : root; }

  const char* className() const override { return "NSBundle"; }
  NS::UInteger contentHash() const override { return fs::hash_value(root); }
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override { return autoreleased_string("NSBundle <" + root.string() + ">"); }
  ~BundleObject() override {
    if (loaded) dlclose(loaded);
  }
};

const BundleObject* body(const NS::Bundle* bundle) {
  return static_cast<const BundleObject*>(bundle);
}
BundleObject* body(NS::Bundle* bundle) {
  return static_cast<BundleObject*>(bundle);
}

bool BundleObject::contentEquals(const NS::Object& other) const {
  const auto* bundle = dynamic_cast<const NS::Bundle*>(&other);
  return bundle && root == body(bundle)->root;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

BundleObject* new_main_bundle() {
  auto* bundle = new BundleObject;
  std::error_code unreadable;
  bundle->executable = fs::read_symlink("/proc/self/exe", unreadable);
  if (unreadable) bundle->executable = fs::current_path(unreadable) / "unknown";
  const fs::path folder = bundle->executable.parent_path();
  const bool in_application = folder.filename() == "MacOS" && folder.parent_path().filename() == "Contents";
  bundle->contents = in_application ? folder.parent_path() : folder;
  bundle->root = in_application ? folder.parent_path().parent_path() : folder;
  bundle->is_main = true;
  return bundle;
}

// The program of a bundle has the bundle's name.
fs::path find_executable(const BundleObject& bundle) {
  const fs::path name = bundle.root.stem();
  for (const fs::path& candidate : {bundle.contents / "MacOS" / name, bundle.root / name})
    if (is_file(candidate)) return candidate;
  return {};
}

NS::String* string_of(const fs::path& path) {
  return autoreleased_string(path.string());
}

NS::URL* url_of(const fs::path& path) {
  return NS::URL::fileURLWithPath(string_of(path));
}

fs::path auxiliary_executable(const BundleObject& bundle, const NS::String* name) {
  if (!name || name->length() == 0) return {};
  const fs::path folder = bundle.has_mac_layout() ? bundle.contents / "MacOS" : bundle.root;
  const fs::path path = folder / fs::path(text_of(name));
  return is_file(path) ? path : fs::path();
}

constexpr NS::Integer file_does_not_exist = 4;         // NSFileNoSuchFileError
constexpr NS::Integer executable_not_loadable = 3587;  // NSExecutableLoadError

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

STRING_CONSTANT(BundleDidLoadNotification, "NSBundleDidLoadNotification")
STRING_CONSTANT(BundleResourceRequestLowDiskSpaceNotification, "NSBundleResourceRequestLowDiskSpaceNotification")

String* LocalizedString(const String* key, const String*) {
  return Bundle::mainBundle()->localizedString(key);
}

String* LocalizedStringFromTable(const String* key, const String* table, const String*) {
  return Bundle::mainBundle()->localizedString(key, nullptr, table);
}

String* LocalizedStringFromTableInBundle(const String* key, const String* table, const Bundle* bundle, const String*) {
  return bundle ? bundle->localizedString(key, nullptr, table) : nullptr;
}

String* LocalizedStringWithDefaultValue(const String* key, const String* table, const Bundle* bundle,
                                        const String* value, const String*) {
  return bundle ? bundle->localizedString(key, value, table) : nullptr;
}

Bundle* Bundle::mainBundle() {
  static BundleObject& bundle = *new_main_bundle();
  return &bundle;
}

Bundle* Bundle::bundle(const String* path) {
  return autoreleased(alloc()->init(path));
}

Bundle* Bundle::bundle(const URL* url) {
  return autoreleased(alloc()->init(url));
}

Array* Bundle::allBundles() {
  return autoreleased_array({RetainPtr<Object>(mainBundle())});
}

Array* Bundle::allFrameworks() {
  return autoreleased_array({});
}

Bundle* Bundle::alloc() {
  return new BundleObject;
}

Bundle* Bundle::init(const String* path) {
  if (!path) return failed_init(this);
  std::error_code no_such_path;
  const fs::path root = fs::canonical(fs::path(text_of(path)), no_such_path);
  if (no_such_path || !is_folder(root)) return failed_init(this);
  BundleObject* self = body(this);
  self->root = root;
  self->contents = is_folder(root / "Contents") ? root / "Contents" : root;
  self->executable = find_executable(*self);
  return this;
}

Bundle* Bundle::init(const URL* url) {
  const char* path = url ? url->fileSystemRepresentation() : nullptr;
  if (!path) return failed_init(this);
  const auto text = TransferPtr(new_string(path));
  return init(text.get());
}

bool Bundle::load() {
  return loadAndReturnError(nullptr);
}

bool Bundle::unload() {
  BundleObject* self = body(this);
  if (!self) return false;
  const std::lock_guard lock(self->mutex);
  if (!self->loaded || dlclose(self->loaded) != 0) return false;
  self->loaded = nullptr;
  return true;
}

bool Bundle::isLoaded() const {
  const BundleObject* self = body(this);
  if (!self) return false;
  const std::lock_guard lock(self->mutex);
  return self->is_main || self->loaded;
}

bool Bundle::preflightAndReturnError(Error** error) const {
  const BundleObject* self = body(this);
  if (!self) return false;
  if (!self->executable.empty()) return true;
  set_error(error, CocoaErrorDomain, file_does_not_exist, "The bundle " + self->root.string() + " has no executable.");
  return false;
}

bool Bundle::loadAndReturnError(Error** error) {
  BundleObject* self = body(this);
  if (!self || !preflightAndReturnError(error)) return false;
  {
    const std::lock_guard lock(self->mutex);
    if (self->is_main || self->loaded) return true;
    self->loaded = dlopen(self->executable.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!self->loaded) {
      set_error(error, CocoaErrorDomain, executable_not_loadable,
                "The bundle " + self->root.string() + " cannot be loaded: " + dlerror());
      return false;
    }
  }
  post_notification(BundleDidLoadNotification, this);
  return true;
}

// Every path has a URL of its own.
#define PATH_AND_URL(PathName, URLName, path) \
  String* Bundle::PathName() const {          \
    const BundleObject* self = body(this);    \
    return self ? string_of(path) : nullptr;  \
  }                                           \
  URL* Bundle::URLName() const {              \
    const BundleObject* self = body(this);    \
    return self ? url_of(path) : nullptr;     \
  }

PATH_AND_URL(bundlePath, bundleURL, self->root)
PATH_AND_URL(resourcePath, resourceURL, self->resources())
PATH_AND_URL(privateFrameworksPath, privateFrameworksURL, self->contents / "Frameworks")
PATH_AND_URL(sharedFrameworksPath, sharedFrameworksURL, self->contents / "SharedFrameworks")
PATH_AND_URL(sharedSupportPath, sharedSupportURL, self->contents / "SharedSupport")
PATH_AND_URL(builtInPlugInsPath, builtInPlugInsURL, self->contents / "PlugIns")
#undef PATH_AND_URL

String* Bundle::executablePath() const {
  const BundleObject* self = body(this);
  return self && !self->executable.empty() ? string_of(self->executable) : nullptr;
}

URL* Bundle::executableURL() const {
  const BundleObject* self = body(this);
  return self && !self->executable.empty() ? url_of(self->executable) : nullptr;
}

String* Bundle::pathForAuxiliaryExecutable(const String* name) const {
  const BundleObject* self = body(this);
  const fs::path path = self ? auxiliary_executable(*self, name) : fs::path();
  return path.empty() ? nullptr : string_of(path);
}

URL* Bundle::URLForAuxiliaryExecutable(const String* name) const {
  const BundleObject* self = body(this);
  const fs::path path = self ? auxiliary_executable(*self, name) : fs::path();
  return path.empty() ? nullptr : url_of(path);
}

URL* Bundle::appStoreReceiptURL() const {
  return nullptr;
}

String* Bundle::bundleIdentifier() const {
  return nullptr;
}

Dictionary* Bundle::infoDictionary() const {
  const BundleObject* self = body(this);
  if (!self) return nullptr;
  if (self->executable.empty()) return Dictionary::dictionary();
  return Dictionary::dictionary(string_of(self->executable.filename()), MTLSTR("CFBundleExecutable"));
}

Dictionary* Bundle::localizedInfoDictionary() const {
  return nullptr;
}

Object* Bundle::objectForInfoDictionaryKey(const String* key) {
  const Dictionary* info = infoDictionary();
  return info ? info->object(key) : nullptr;
}

String* Bundle::localizedString(const String* key, const String* value, const String*) const {
  if (value && value->length() != 0) return autoreleased(value->copy());
  return key ? autoreleased(key->copy()) : String::string();
}

}  // namespace NS
