// The bytes and the type behind NS::Value and NS::Number. Value's methods find this part with a dynamic_cast, since a
// Number is a Value too.
#pragma once

#include <Foundation/NSNumber.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace metalloid::foundation {

struct Payload {
  std::string type;   // an Objective-C type encoding
  std::string bytes;  // what an object of that type holds

 protected:
  ~Payload() = default;
};

// The size of a type by its encoding ("i", "^v", "{Point=dd}", "[4f]"…); nothing if it cannot be told.
std::optional<std::size_t> size_of_encoded_type(std::string_view encoding);

}  // namespace metalloid::foundation
