// A point in time.
#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSPrivate.hpp"
#include "NSTypes.hpp"

namespace NS {

class _NS_EXPORT Date : public Copying<Date> {
 public:
  static Date* dateWithTimeIntervalSinceNow(TimeInterval secs);
  static Date* distantFuture();
};

}  // namespace NS
