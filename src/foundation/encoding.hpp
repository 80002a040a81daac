// Text in the encodings that NS::StringEncoding names, to and from UTF-8 and UTF-16. The Unicode encodings, ASCII and
// Latin-1 are done here, the older ones by the C library's iconv where it knows them (Symbol and NEXTSTEP it does not).
#pragma once

#include <Foundation/NSString.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace metalloid::foundation {

// Unpaired surrogates become three bytes each; `from` takes them back.
std::string utf8_from_units(std::u16string_view units);
std::u16string units_from_utf8(std::string_view utf8);

bool is_valid_utf8(std::string_view bytes);

// UTF-8 from the bytes of an encoding, and back. Nothing if the bytes do not belong to it, or the text has no form in
// it.
std::optional<std::string> decode(std::string_view bytes, NS::StringEncoding encoding);
std::optional<std::string> encode(std::string_view utf8, NS::StringEncoding encoding);

// How many bytes a null terminator has, and how many one UTF-16 unit takes at most.
std::size_t terminator_size(NS::StringEncoding encoding);
std::size_t most_bytes_per_unit(NS::StringEncoding encoding);

}  // namespace metalloid::foundation
