// A named stretch of commands that a capture can be limited to.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class CommandQueue;
class Device;

class _MTL_EXPORT CaptureScope : public NS::Referencing<CaptureScope> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* pLabel);
  CommandQueue* commandQueue() const;
  void beginScope();
  void endScope();
};

}  // namespace MTL
