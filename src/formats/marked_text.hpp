// How SentencePiece spells: spaces as U+2581, and bytes that are in no other token as <0x0A>.
#pragma once

#include <string>
#include <string_view>

namespace metalloid::formats {

inline constexpr std::string_view sentencepiece_space = "\u2581";

// The text that a spelling of SentencePiece means.
std::string text_of_marked(std::string_view spelling);

}  // namespace metalloid::formats
