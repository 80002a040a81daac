// A run of bytes. Beyond mutableBytes() and length(), which metal-cpp has, there are NSData's ways to make one: on a
// Mac that is done in Objective-C or through Core Foundation.
#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

class _NS_EXPORT Data : public Copying<Data> {
 public:
  static Data* data(const void* pBytes, UInteger length);

  // The contents of a file; null if it cannot be read.
  static Data* data(const class String* pPath);
  static Data* data(const class URL* pURL);

  static Data* alloc();
  Data* init();
  Data* init(const void* pBytes, UInteger length);

  const void* bytes() const;
  void* mutableBytes() const;
  UInteger length() const;
};

}  // namespace NS
