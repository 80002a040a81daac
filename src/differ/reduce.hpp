// A failing program made as small as it gets while it still fails.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "differ/program.hpp"

namespace metalloid::differ {

// The place of the first program that fails in the same way; nothing if none does.
using FirstFailing = std::function<std::optional<size_t>(const std::vector<Program>&)>;

Program reduced(Program program, const FirstFailing& first_failing, std::chrono::seconds patience);

}  // namespace metalloid::differ
