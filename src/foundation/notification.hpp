// Telling observers, for those inside the project who have something to tell.
#pragma once

#include <Foundation/NSNotification.hpp>

namespace metalloid::foundation {

void post_notification(NS::NotificationName name, NS::Object* object, NS::Dictionary* user_info = nullptr);

}  // namespace metalloid::foundation
