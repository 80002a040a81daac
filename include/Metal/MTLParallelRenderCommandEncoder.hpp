// One render pass encoded by several threads.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLCommandEncoder.hpp"
#include "MTLDefines.hpp"
#include "MTLRenderPass.hpp"

namespace MTL {

class RenderCommandEncoder;

class _MTL_EXPORT ParallelRenderCommandEncoder : public NS::Referencing<ParallelRenderCommandEncoder, CommandEncoder> {
 public:
  void setColorStoreAction(StoreAction storeAction, NS::UInteger colorAttachmentIndex);
  void setColorStoreActionOptions(StoreActionOptions storeActionOptions, NS::UInteger colorAttachmentIndex);
  void setDepthStoreAction(StoreAction storeAction);
  void setDepthStoreActionOptions(StoreActionOptions storeActionOptions);
  void setStencilStoreAction(StoreAction storeAction);
  void setStencilStoreActionOptions(StoreActionOptions storeActionOptions);

  RenderCommandEncoder* renderCommandEncoder();
};

}  // namespace MTL
