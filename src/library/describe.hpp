// A library's reflection for people (a table) and for programs (JSON): what `metalloid inspect` prints. Describing a
// function in full reads its code too, because threadgroup memory and the constants it really uses are known only then;
// code that cannot be had is described by its error.
#pragma once

#include <metalloid/library.hpp>
#include <optional>
#include <string>

namespace metalloid {

struct DescribeOptions {
  std::optional<std::string> function = std::nullopt;  // this one only, in full
  bool colour = false;                                 // text only
  size_t most_in_full = 40;                            // text only: a library with more functions is a line for each
};

// The error: there is no such function.
Result<std::string> describe_text(const Library& library, const DescribeOptions& options = {});
Result<std::string> describe_json(const Library& library, const DescribeOptions& options = {});

// For what devices the library has the function's code ready: "sm_90 PTX, sm_90 cubin"; empty for none.
std::string ready_for(const Library& library, std::string_view function);

// The type as Metal source spells it, as far as reflection knows: "float4[3]", "Params", "texture2d<half>".
std::string type_name(const Type& type);

}  // namespace metalloid
