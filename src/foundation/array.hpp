// The array behind NS::Array.
#pragma once

#include <Foundation/NSArray.hpp>

#include "foundation/collection.hpp"

namespace metalloid::foundation {

class ArrayObject final : public NS::Array, public Collection {
 public:
  const char* className() const override { return "NSArray"; }
  NS::UInteger contentHash() const override { return objects.size(); }
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
};

NS::Array* autoreleased_array(std::vector<NS::SharedPtr<NS::Object>> objects);

}  // namespace metalloid::foundation
