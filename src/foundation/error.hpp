// Making errors, for the other rooms.
#pragma once

#include <Foundation/NSError.hpp>
#include <string_view>

namespace metalloid::foundation {

NS::Error* autoreleased_error(NS::ErrorDomain domain, NS::Integer code, std::string_view description);

// Fills the `NS::Error**` argument of a call that failed; the caller may have passed null.
void set_error(NS::Error** error, NS::ErrorDomain domain, NS::Integer code, std::string_view description);

}  // namespace metalloid::foundation
