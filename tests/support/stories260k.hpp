// The tiny Llama that writes stories, which is no part of this repository: METALLOID_STORIES260K names its folder, or
// it lies in ../shared/data/stories260k.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace metalloid::stories260k {

inline std::optional<std::filesystem::path> folder() {
  const char* named = std::getenv("METALLOID_STORIES260K");
  const std::filesystem::path path = named != nullptr ? named : METALLOID_SOURCE_DIR "/../shared/data/stories260k";
  if (!std::filesystem::exists(path / "stories260K.bin")) return std::nullopt;
  return path;
}

inline constexpr const char* missing = "stories260K.bin is not here: METALLOID_STORIES260K names its folder";

// What greedy decoding gives from the start token alone, computed in float64 (the model's README).
inline const std::vector<int> greedy_tokens = {
    1,   403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426, 338, 401, 396, 267, 337,
    410, 408, 419, 292, 411, 322, 265, 282, 295, 433, 426, 385, 328, 432, 358, 394, 261, 370, 432, 352, 266,
    268, 388, 426, 338, 391, 266, 267, 337, 335, 312, 432, 398, 312, 286, 267, 414, 270, 333, 415, 426, 13,
    438, 310, 439, 419, 357, 336, 432, 313, 438, 310, 432, 278, 316, 439, 419, 298, 414, 267, 265, 282, 295,
    433, 426, 436, 317, 286, 296, 418, 269, 279, 292, 416, 439, 413, 409, 416, 327, 263, 415, 294, 267, 400,
    426, 338, 336, 432, 313, 442, 391, 267, 337, 335, 364, 420, 268, 388, 432, 398};

inline const std::string greedy_text =
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a "
    "big, red ball. She wanted to play with it, but it was too high.\nLily's mom said, \"Lily, let's go to the park.\" "
    "Lily was sad and didn't know what to do. She said, \"I want to play with your ball, but";

}  // namespace metalloid::stories260k
