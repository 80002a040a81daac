// The text of a kernel's os_log message. Formats are printf's with OpenCL's vectors (%v4f gives "1,2,3,4"), and
// arguments lie in slots of eight bytes (docs/builtins.md, Logging).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace metalloid::device {

// Reads `bytes` of slots and no more: a conversion without an argument gives "<missing>", and what is no conversion
// stands as it is written. Annotations as in %{public}d are accepted and mean nothing. %s takes the address of a
// string; null is "(null)", and one that cannot be read is "<unreadable>".
std::string format_log(const char* format, const uint64_t* slots, uint32_t bytes);

// The numbers of the slots in which a format expects addresses of strings, in their order.
std::vector<uint32_t> string_slots(const char* format);

}  // namespace metalloid::device
