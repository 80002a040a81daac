// Where Cocoa raises an exception that ends the program (an index out of bounds, a null where an object must be), we
// say so on stderr in one line and answer null.
#pragma once

#include <string_view>

namespace metalloid::foundation {

// `call` in Cocoa's spelling, such as "-[NSArray objectAtIndex:]".
void report_misuse(std::string_view call, std::string_view what);

}  // namespace metalloid::foundation
