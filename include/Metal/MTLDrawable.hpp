// Something that is shown on a screen when commands have been drawn into it.
#pragma once

#include <functional>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Drawable;

using DrawablePresentedHandlerFunction = std::function<void(Drawable*)>;
#ifdef __BLOCKS__
using DrawablePresentedHandler = void (^)(Drawable*);
#endif

class _MTL_EXPORT Drawable : public NS::Referencing<Drawable> {
 public:
  NS::UInteger drawableID() const;
  CFTimeInterval presentedTime() const;
  void present();
  void presentAfterMinimumDuration(CFTimeInterval duration);
  void presentAtTime(CFTimeInterval presentationTime);
  void addPresentedHandler(const DrawablePresentedHandlerFunction& function);

#ifdef __BLOCKS__
  void addPresentedHandler(const DrawablePresentedHandler block) {
    addPresentedHandler(NS::Private::functionFromBlock(block));
  }
#endif
};

}  // namespace MTL
