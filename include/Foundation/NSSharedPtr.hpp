// A pointer that owns one reference. TransferPtr takes over a reference that the caller owns, RetainPtr adds one.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "NSDefines.hpp"

namespace NS {

template <class _Class>
class SharedPtr {
  template <class _OtherClass>
  using Convertible = std::enable_if_t<std::is_convertible_v<_OtherClass*, _Class*>>;

 public:
  SharedPtr() noexcept = default;
  SharedPtr(std::nullptr_t) noexcept {}
  SharedPtr(const SharedPtr& other) noexcept : m_pObject(retained(other.m_pObject)) {}
  SharedPtr(SharedPtr&& other) noexcept : m_pObject(std::exchange(other.m_pObject, nullptr)) {}

  template <class _OtherClass, class = Convertible<_OtherClass>>
  SharedPtr(const SharedPtr<_OtherClass>& other) noexcept : m_pObject(retained(other.get())) {}

  template <class _OtherClass, class = Convertible<_OtherClass>>
  SharedPtr(SharedPtr<_OtherClass>&& other) noexcept : m_pObject(other.get()) {
    other.detach();
  }

  ~SharedPtr() { reset(); }

  SharedPtr& operator=(const SharedPtr& other) {
    SharedPtr(other).swap(*this);
    return *this;
  }

  SharedPtr& operator=(SharedPtr&& other) {
    SharedPtr(std::move(other)).swap(*this);
    return *this;
  }

  template <class _OtherClass, class = Convertible<_OtherClass>>
  SharedPtr& operator=(const SharedPtr<_OtherClass>& other) {
    SharedPtr(other).swap(*this);
    return *this;
  }

  template <class _OtherClass, class = Convertible<_OtherClass>>
  SharedPtr& operator=(SharedPtr<_OtherClass>&& other) {
    SharedPtr(std::move(other)).swap(*this);
    return *this;
  }

  _Class* get() const { return m_pObject; }
  _Class* operator->() const { return m_pObject; }
  explicit operator bool() const { return m_pObject != nullptr; }

  // Gives the reference up.
  void reset() {
    if (_Class* pObject = std::exchange(m_pObject, nullptr)) pObject->release();
  }

  // Forgets the reference without giving it up: the caller owns it now.
  void detach() { m_pObject = nullptr; }

  template <class _OtherClass>
  friend SharedPtr<_OtherClass> RetainPtr(_OtherClass* pObject);

  template <class _OtherClass>
  friend SharedPtr<_OtherClass> TransferPtr(_OtherClass* pObject);

 private:
  static _Class* retained(_Class* pObject) {
    if (pObject) pObject->retain();
    return pObject;
  }

  void swap(SharedPtr& other) noexcept { std::swap(m_pObject, other.m_pObject); }

  _Class* m_pObject = nullptr;
};

template <class _Class>
SharedPtr<_Class> RetainPtr(_Class* pObject) {
  SharedPtr<_Class> pointer;
  pointer.m_pObject = SharedPtr<_Class>::retained(pObject);
  return pointer;
}

template <class _Class>
SharedPtr<_Class> TransferPtr(_Class* pObject) {
  SharedPtr<_Class> pointer;
  pointer.m_pObject = pObject;
  return pointer;
}

template <class _ClassLhs, class _ClassRhs>
bool operator==(const SharedPtr<_ClassLhs>& lhs, const SharedPtr<_ClassRhs>& rhs) {
  return lhs.get() == rhs.get();
}

template <class _ClassLhs, class _ClassRhs>
bool operator!=(const SharedPtr<_ClassLhs>& lhs, const SharedPtr<_ClassRhs>& rhs) {
  return lhs.get() != rhs.get();
}

}  // namespace NS
