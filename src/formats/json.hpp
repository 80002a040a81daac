// JSON from files that anyone may have written: nesting is limited, since code that walks through it calls itself.
#pragma once

#include <fmt/format.h>

#include <metalloid/result.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

namespace metalloid::formats {

using Json = nlohmann::json;

// The error says what is wrong and where. Of names that the outermost object has twice, the parser keeps the last, so
// that they are an error, too.
inline Result<Json> parse_json(std::string_view text) {
  constexpr int deepest = 32;
  std::set<std::string> names;
  std::string problem;
  const auto watch = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > deepest) problem = "its nesting is too deep";
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
      problem = fmt::format("'{}' is there twice", parsed.get<std::string>());
    return problem.empty();
  };
  try {
    Json parsed = Json::parse(text.begin(), text.end(), watch);
    if (!problem.empty()) return Error{problem};
    return parsed;
  } catch (const Json::exception& exception) {
    return Error{fmt::format("it is not JSON: {}", exception.what())};
  }
}

}  // namespace metalloid::formats
