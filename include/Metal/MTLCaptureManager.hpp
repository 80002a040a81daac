// Recording what a program asks of its devices: a capture runs from start to stop and goes where its descriptor says.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class CaptureScope;
class CommandQueue;
class Device;

_MTL_ENUM(NS::Integer, CaptureError){
    CaptureErrorNotSupported = 1,
    CaptureErrorAlreadyCapturing = 2,
    CaptureErrorInvalidDescriptor = 3,
};

_MTL_ENUM(NS::Integer, CaptureDestination){
    CaptureDestinationDeveloperTools = 1,
    CaptureDestinationGPUTraceDocument = 2,
};

class _MTL_EXPORT CaptureDescriptor : public NS::Copying<CaptureDescriptor> {
 public:
  static CaptureDescriptor* alloc();
  CaptureDescriptor* init();

  NS::Object* captureObject() const;
  void setCaptureObject(NS::Object* captureObject);
  CaptureDestination destination() const;
  void setDestination(CaptureDestination destination);
  NS::URL* outputURL() const;
  void setOutputURL(const NS::URL* outputURL);
};

class _MTL_EXPORT CaptureManager : public NS::Referencing<CaptureManager> {
 public:
  static CaptureManager* sharedCaptureManager();

  static CaptureManager* alloc();
  CaptureManager* init();

  CaptureScope* defaultCaptureScope() const;
  void setDefaultCaptureScope(const CaptureScope* defaultCaptureScope);
  bool isCapturing() const;

  CaptureScope* newCaptureScope(const Device* device);
  CaptureScope* newCaptureScope(const CommandQueue* commandQueue);

  bool startCapture(const CaptureDescriptor* descriptor, NS::Error** error);
  void startCapture(const Device* device);
  void startCapture(const CommandQueue* commandQueue);
  void startCapture(const CaptureScope* captureScope);
  void stopCapture();
  bool supportsDestination(CaptureDestination destination);
};

}  // namespace MTL
