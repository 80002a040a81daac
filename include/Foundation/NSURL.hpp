// The address of a file, or any other URL.
#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSPrivate.hpp"
#include "NSTypes.hpp"

namespace NS {

class _NS_EXPORT URL : public Copying<URL> {
 public:
  static URL* fileURLWithPath(const class String* pPath);

  static URL* alloc();
  URL* init();
  URL* init(const class String* pString);
  URL* initFileURLWithPath(const class String* pPath);

  // The absolute path; null if the URL is not that of a file.
  const char* fileSystemRepresentation() const;
};

}  // namespace NS
