// Reference counts, and what an object does unless its class knows better: it is equal to itself only, it is described
// by its class and address, and its copy is itself (right for everything that does not change).
#include <Foundation/NSObject.hpp>
#include <Foundation/NSString.hpp>
#include <cstdio>

#include "foundation/autorelease_pool.hpp"
#include "foundation/string.hpp"

namespace NS {
namespace Private {

static constexpr auto immortal = UIntegerMax;
static constexpr UInteger pooled = UInteger(1) << 32;

static UInteger references(UInteger count) {
  return count == immortal ? immortal : count % pooled;
}

Counted::~Counted() = default;

const char* Counted::className() const {
  return "NSObject";
}

UInteger Counted::contentHash() const {
  return reinterpret_cast<UInteger>(this) >> 4;
}

bool Counted::contentEquals(const Object& other) const {
  return static_cast<const Counted*>(&other) == this;
}

String* Counted::contentDescription() const {
  char text[160];
  std::snprintf(text, sizeof text, "<%s: %p>", className(), static_cast<const void*>(this));
  return metalloid::foundation::autoreleased_string(text);
}

Object* Counted::contentCopy() const {
  return static_cast<Object*>(retain(const_cast<Counted*>(this)));
}

void Counted::dealloc() {
  delete this;
}

Counted* retain(Counted* object) {
  if (object && object->m_count.load(std::memory_order_relaxed) != immortal)
    object->m_count.fetch_add(1, std::memory_order_relaxed);
  return object;
}

void release(Counted* object) {
  if (!object) return;
  UInteger count = object->m_count.load(std::memory_order_relaxed);
  do {
    if (count == immortal || references(count) == 0) return;
  } while (
      !object->m_count.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (references(count) > 1) return;
  if (count > 1) {
    if (!metalloid::foundation::is_in_no_pool(object, count / pooled)) return;
    object->m_count.store(0, std::memory_order_relaxed);
  }
  object->dealloc();
}

void enterPool(Counted* object) {
  if (object->m_count.load(std::memory_order_relaxed) != immortal)
    object->m_count.fetch_add(pooled, std::memory_order_relaxed);
}

void leavePool(Counted* object) {
  UInteger count = object->m_count.load(std::memory_order_relaxed);
  UInteger left;
  do {
    if (count == immortal) return;
    left = count - pooled - (references(count) == 0 ? 0 : 1);
  } while (!object->m_count.compare_exchange_weak(count, left, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (left == 0) object->dealloc();
}

UInteger retainCount(const Counted* object) {
  return object ? references(object->m_count.load(std::memory_order_relaxed)) : 0;
}

Counted* copy(const Counted* object) {
  return object ? object->contentCopy() : nullptr;
}

}  // namespace Private

static const Object* self(const Object* object) {
  return object;
}

UInteger Object::hash() const {
  return self(this) ? contentHash() : 0;
}

bool Object::isEqual(const Object* other) const {
  if (!self(this) || !other) return false;
  return this == other || contentEquals(*other);
}

String* Object::description() const {
  return self(this) ? contentDescription() : nullptr;
}

String* Object::debugDescription() const {
  return description();
}

}  // namespace NS
