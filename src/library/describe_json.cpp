// Every field of reflection under its own name; fields that do not apply to a kind of type or parameter are left out.
#include <nlohmann/json.hpp>

#include "library/describe.hpp"
#include "library/function_choice.hpp"

namespace metalloid {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Type& type) {
  Json json;
  json["type"] = type_name(type);
  json["data_type"] = to_string(type.data_type);
  json["size"] = type.size;
  json["alignment"] = type.alignment;
  if (!type.name.empty()) json["name"] = type.name;
  if (type.data_type == DataType::structure) {
    json["members"] = Json::array();
    for (const StructMember& member : type.members)
      json["members"].push_back({{"name", member.name},
                                 {"offset", member.offset},
                                 {"argument_index", member.argument_index},
                                 {"type", json_of(member.type)}});
  }
  if (type.data_type == DataType::array) json["array_length"] = type.array_length;
  if (!type.element.empty()) json["element"] = json_of(type.element.front());
  if (type.data_type == DataType::pointer || type.data_type == DataType::texture)
    json["access"] = to_string(type.access);
  if (type.data_type == DataType::texture) {
    json["texture_type"] = to_string(type.texture_type);
    json["texture_data_type"] = to_string(type.texture_data_type);
  }
  return json;
}

Json json_of(const Parameter& parameter) {
  Json json;
  json["name"] = parameter.name;
  json["kind"] = to_string(parameter.kind);
  if (parameter.kind == ParameterKind::grid_value) {
    json["grid_value"] = to_string(parameter.grid_value);
  } else {
    json["index"] = parameter.index;
    json["array_length"] = parameter.array_length;
    json["access"] = to_string(parameter.access);
  }
  if (parameter.kind == ParameterKind::buffer)
    json["address_space"] = parameter.constant_memory ? "constant" : "device";
  if (!parameter.function_constant.empty()) json["function_constant"] = parameter.function_constant;
  json["type"] = json_of(parameter.type);
  return json;
}

Json json_of(const std::vector<FunctionConstant>& constants) {
  Json json = Json::array();
  for (const FunctionConstant& constant : constants)
    json.push_back({{"index", constant.index},
                    {"name", constant.name},
                    {"type", to_string(constant.data_type)},
                    {"required", constant.required}});
  return json;
}

Json json_of(const Library& library, const Function& function) {
  Json json;
  json["name"] = function.name;
  json["source_name"] = function.source_name;
  json["kind"] = to_string(function.kind);
  json["location"] = {
      {"file", function.location.file}, {"line", function.location.line}, {"column", function.location.column}};
  json["max_total_threads_per_threadgroup"] = nullptr;
  if (function.max_total_threads_per_threadgroup)
    json["max_total_threads_per_threadgroup"] = *function.max_total_threads_per_threadgroup;
  json["parameters"] = Json::array();
  for (const Parameter& parameter : function.parameters) json["parameters"].push_back(json_of(parameter));

  json["ahead_of_time"] = ready_for(library, function.name);
  if (const auto code = library.code(function.name)) {
    json["static_threadgroup_memory"] = (*code)->static_threadgroup_memory;
    json["function_constants"] = json_of((*code)->function_constants);
    json["code"] = {{"entry", (*code)->entry}, {"size", (*code)->bitcode.size()}};
  } else {
    json["code"] = {{"error", code.error()}};
  }
  return json;
}

std::string text_of(const Json& json, std::string_view indent) {
  std::string text;
  for (char c : json.dump(2, ' ', false, Json::error_handler_t::replace)) {
    text += c;
    if (c == '\n') text += indent;  // line ends inside strings are escaped
  }
  return text;
}

}  // namespace

// Function by function: the JSON objects of thousands of kernels take far more memory than their text.
Result<std::string> describe_json(const Library& library, const DescribeOptions& options) {
  const auto names = chosen_functions(library, options);
  if (!names) return Error{names.error()};
  std::string text = "{\n  \"functions\": [";
  for (std::string_view name : *names) {
    text += text.ends_with('[') ? "\n    " : ",\n    ";
    text += text_of(json_of(library, *library.find(name)), "    ");
  }
  text += names->empty() ? "],\n" : "\n  ],\n";
  return text + "  \"function_constants\": " + text_of(json_of(library.function_constants()), "  ") + "\n}\n";
}

}  // namespace metalloid
