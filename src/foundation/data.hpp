// The bytes behind NS::Data.
#pragma once

#include <Foundation/NSData.hpp>
#include <string>

namespace metalloid::foundation {

class DataObject final : public NS::Data {
 public:
  std::string bytes;

  const char* className() const override { return "NSData"; }
  NS::UInteger contentHash() const override;
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
  NS::Object* contentCopy() const override;
};

NS::Data* autoreleased_data(std::string bytes);

}  // namespace metalloid::foundation
