// In byte-level vocabularies every byte is written as a letter: printable ones as themselves, the others as the letters
// from U+0100 on, in their order. So a space is "Ġ".
#pragma once

#include <string>
#include <string_view>

namespace metalloid::formats {

std::string letters_of_bytes(std::string_view bytes);

// Characters that stand for no byte are taken as they are: added tokens are written plainly.
std::string bytes_of_letters(std::string_view letters);

}  // namespace metalloid::formats
