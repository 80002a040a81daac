// What a pointer to any object points to: a reference count and the few operations that differ from class to class.
// Programs use them through Referencing, Copying and Object; a class that implements an interface overrides them
// (docs/objects.md).
#pragma once

#include <atomic>

#include "NSDefines.hpp"
#include "NSTypes.hpp"

#ifdef __BLOCKS__
#include <functional>
#include <memory>
#endif

namespace NS {

class Object;
class String;

namespace Private {

class _NS_EXPORT Counted {
 public:
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 protected:
  enum class Lifetime : UInteger { Counted = 1, Immortal = UIntegerMax };

  constexpr explicit Counted(Lifetime lifetime = Lifetime::Counted) noexcept
      : m_count(static_cast<UInteger>(lifetime)) {}
  virtual ~Counted();

  virtual const char* className() const;
  virtual UInteger contentHash() const;
  virtual bool contentEquals(const Object& other) const;
  virtual String* contentDescription() const;
  virtual Object* contentCopy() const;
  virtual void dealloc();

 private:
  friend _NS_EXPORT Counted* retain(Counted* pObject);
  friend _NS_EXPORT void release(Counted* pObject);
  friend _NS_EXPORT UInteger retainCount(const Counted* pObject);
  friend _NS_EXPORT Counted* copy(const Counted* pObject);
  friend _NS_EXPORT void enterPool(Counted* pObject);
  friend _NS_EXPORT void leavePool(Counted* pObject);

  std::atomic<UInteger> m_count;  // references in the lower half, how many pools the object is in above
};

// These take null, as every message to nil is harmless on a Mac.
_NS_EXPORT Counted* retain(Counted* pObject);
_NS_EXPORT void release(Counted* pObject);
_NS_EXPORT Counted* autorelease(Counted* pObject);
_NS_EXPORT UInteger retainCount(const Counted* pObject);
_NS_EXPORT Counted* copy(const Counted* pObject);

// A pool takes over one reference, and gives it up. What is in a pool lives on there, however often it is released.
_NS_EXPORT void enterPool(Counted* pObject);
_NS_EXPORT void leavePool(Counted* pObject);

#ifdef __BLOCKS__
extern "C" void* _Block_copy(const void* block);
extern "C" void _Block_release(const void* block);

// A block that lives as long as the function does.
template <class _Ret, class... _Args>
std::function<_Ret(_Args...)> functionFromBlock(_Ret (^block)(_Args...)) {
  if (!block) return nullptr;
  std::shared_ptr<void> copy(_Block_copy(reinterpret_cast<const void*>(block)), [](void* p) { _Block_release(p); });
  return [copy](_Args... args) -> _Ret { return reinterpret_cast<_Ret (^)(_Args...)>(copy.get())(args...); };
}
#endif

}  // namespace Private
}  // namespace NS
