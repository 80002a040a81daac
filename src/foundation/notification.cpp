#include "foundation/notification.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "foundation/object.hpp"
#include "foundation/string.hpp"

namespace metalloid::foundation {
namespace {

class NotificationObject final : public NS::Notification {
 public:
  NS::SharedPtr<NS::String> name;
  NS::SharedPtr<NS::Object> object;
  NS::SharedPtr<NS::Dictionary> user_info;

  const char* className() const override { return "NSNotification"; }
};

class ObserverObject final : public NS::Object {
 public:
  NS::SharedPtr<NS::String> name;
  const NS::Object* object = nullptr;  // compared, never followed
  NS::ObserverFunction handler;

  bool wants(const NotificationObject& notification) const {
    return (!name || name->isEqual(notification.name.get())) && (!object || object == notification.object.get());
  }
};

class CenterObject final : public NS::NotificationCenter {
 public:
  std::mutex mutex;
  std::vector<NS::SharedPtr<ObserverObject>> observers;

  const char* className() const override { return "NSNotificationCenter"; }
};

CenterObject& center() {
  static CenterObject& object = *new CenterObject;
  return object;
}

const NotificationObject* body(const NS::Notification* notification) {
  return static_cast<const NotificationObject*>(notification);
}

}  // namespace

// Observers are called without the lock, so that they may add and remove observers.
void post_notification(NS::NotificationName name, NS::Object* object, NS::Dictionary* user_info) {
  const auto notification = NS::TransferPtr(new NotificationObject);
  notification->name = NS::RetainPtr(name);
  notification->object = NS::RetainPtr(object);
  notification->user_info = NS::RetainPtr(user_info);
  std::vector<NS::SharedPtr<ObserverObject>> told;
  {
    const std::lock_guard lock(center().mutex);
    std::copy_if(center().observers.begin(), center().observers.end(), std::back_inserter(told),
                 [&](const auto& observer) { return observer->wants(*notification.get()); });
  }
  for (const auto& observer : told) observer->handler(notification.get());
}

}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

String* Notification::name() const {
  const NotificationObject* self = body(this);
  return self ? self->name.get() : nullptr;
}

Object* Notification::object() const {
  const NotificationObject* self = body(this);
  return self ? self->object.get() : nullptr;
}

Dictionary* Notification::userInfo() const {
  const NotificationObject* self = body(this);
  return self ? self->user_info.get() : nullptr;
}

NotificationCenter* NotificationCenter::defaultCenter() {
  return &center();
}

Object* NotificationCenter::addObserver(NotificationName name, Object* object, void*, ObserverFunction& handler) {
  if (!handler) return nullptr;
  const auto observer = TransferPtr(new ObserverObject);
  observer->name = RetainPtr(name);
  observer->object = object;
  observer->handler = handler;
  const std::lock_guard lock(center().mutex);
  center().observers.push_back(observer);
  return observer.get();
}

void NotificationCenter::removeObserver(Object* observer) {
  SharedPtr<ObserverObject> removed;  // dies after the lock is gone: its handler may own anything
  const std::lock_guard lock(center().mutex);
  auto& observers = center().observers;
  const auto found =
      std::find_if(observers.begin(), observers.end(), [&](const auto& o) { return o.get() == observer; });
  if (found == observers.end()) return;
  removed = std::move(*found);
  observers.erase(found);
}

}  // namespace NS
