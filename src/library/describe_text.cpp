// For each function a heading and a table of what its caller binds, one line for each argument and, below it, the
// members of its structs; what the grid provides is a line of names, since there is nothing to bind.
#include <fmt/format.h>

#include <algorithm>

#include "library/colour.hpp"
#include "library/describe.hpp"
#include "library/display.hpp"
#include "library/function_choice.hpp"

namespace metalloid {
namespace {

constexpr size_t gap = 2;

// Rows of cells, each column as wide as its widest cell.
class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  // The first row is the heading.
  std::string print(std::string_view indent, const Palette& palette) const {
    std::vector<size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line(indent);
      for (size_t i = 0; i < row.size(); ++i)
        line += row[i] + std::string(widths[i] - display_width(row[i]) + gap, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      text += (&row == &rows_.front() ? palette(Ink::grey, line) : line) + "\n";
    }
    return text;
  }
  bool has_rows() const { return rows_.size() > 1; }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string binding(const Parameter& parameter) {
  const std::string kind =
      parameter.kind == ParameterKind::threadgroup_memory ? "threadgroup" : to_string(parameter.kind);
  if (parameter.kind == ParameterKind::value) return kind;
  if (parameter.array_length > 1)
    return fmt::format("{}({}..{})", kind, parameter.index, uint64_t{parameter.index} + parameter.array_length - 1);
  return fmt::format("{}({})", kind, parameter.index);
}

std::string memory_of(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::threadgroup_memory) return "threadgroup";
  if (parameter.kind == ParameterKind::buffer) return parameter.constant_memory ? "constant" : "device";
  return "";
}

bool has_access(const Parameter& parameter) {
  return parameter.kind == ParameterKind::buffer || parameter.kind == ParameterKind::texture;
}

// Of the type, or of what it is an array of or points at.
void add_members(Table& table, const Type& type, const std::string& indent) {
  for (const Type& element : type.element) add_members(table, element, indent);
  for (const StructMember& member : type.members) {
    const bool has_member_access =
        member.type.data_type == DataType::pointer || member.type.data_type == DataType::texture;
    table.add({fmt::format("{}+{}", indent, member.offset), indent + printable(member.name), "",
               printable(type_name(member.type)), has_member_access ? to_string(member.type.access) : "",
               fmt::format("{}", member.type.size), fmt::format("{}", member.type.alignment)});
    add_members(table, member.type, indent + "  ");
  }
}

std::string arguments_text(const Function& function, const Palette& palette) {
  Table table;
  table.add({"argument", "name", "memory", "type", "access", "size", "align", "if"});
  std::string provided;
  for (const Parameter& parameter : function.parameters) {
    if (parameter.kind == ParameterKind::grid_value) {
      provided += fmt::format("{}{} {} [[{}]]", provided.empty() ? "" : ", ", printable(type_name(parameter.type)),
                              printable(parameter.name), to_string(parameter.grid_value));
      continue;
    }
    table.add({binding(parameter), printable(parameter.name), memory_of(parameter),
               printable(type_name(parameter.type)), has_access(parameter) ? to_string(parameter.access) : "",
               fmt::format("{}", parameter.type.size), fmt::format("{}", parameter.type.alignment),
               printable(parameter.function_constant)});
    add_members(table, parameter.type, "  ");
  }
  std::string text = table.has_rows() ? table.print("  ", palette) : "";
  if (!provided.empty()) text += "  " + palette(Ink::grey, "from the grid: ") + provided + "\n";
  return text;
}

std::string constants_text(const std::vector<FunctionConstant>& constants) {
  std::string text;
  for (const FunctionConstant& constant : constants)
    text += fmt::format("{}{} {} [[function_constant({})]]{}", text.empty() ? "" : ", ", to_string(constant.data_type),
                        printable(constant.name), constant.index, constant.required ? "" : " (optional)");
  return text;
}

std::string place_text(const SourceLocation& location) {
  if (location.file.empty()) return "";
  return fmt::format("{}:{}:{}", printable(location.file), location.line, location.column);
}

std::string heading(const Function& function, const Palette& palette) {
  std::string text = palette(Ink::cyan, to_string(function.kind)) + " " + palette(Ink::bold, printable(function.name));
  if (const std::string place = place_text(function.location); !place.empty()) text += palette(Ink::grey, "  " + place);
  return text + "\n";
}

std::string function_text(const Library& library, const Function& function, const Palette& palette) {
  const auto line = [&](std::string_view label, const std::string& value) {
    return "  " + palette(Ink::grey, fmt::format("{}: ", label)) + value + "\n";
  };
  std::string text = heading(function, palette);
  if (function.source_name != function.name) text += line("in the source", printable(function.source_name));
  text += arguments_text(function, palette);
  if (function.max_total_threads_per_threadgroup)
    text += line("most threads per threadgroup", fmt::format("{}", *function.max_total_threads_per_threadgroup));
  const auto code = library.code(function.name);
  if (!code) return text + line("code", palette(Ink::red, printable(code.error())));
  if ((*code)->static_threadgroup_memory > 0)
    text += line("static threadgroup memory", fmt::format("{} bytes", (*code)->static_threadgroup_memory));
  if (!(*code)->function_constants.empty())
    text += line("function constants", constants_text((*code)->function_constants));
  text += line("code", fmt::format("{} bytes of bitcode", (*code)->bitcode.size()));
  if (const std::string devices = ready_for(library, function.name); !devices.empty())
    text += line("made ahead of time for", printable(devices));
  return text;
}

std::string list_text(const Library& library, const std::vector<std::string_view>& names, const Palette& palette) {
  Table table;
  table.add({"function", "kind", "arguments", "source"});
  for (std::string_view name : names) {
    const Function& function = *library.find(name);
    const auto arguments =
        std::count_if(function.parameters.begin(), function.parameters.end(),
                      [](const Parameter& parameter) { return parameter.kind != ParameterKind::grid_value; });
    table.add({printable(name), to_string(function.kind), fmt::format("{}", arguments), place_text(function.location)});
  }
  return table.print("", palette);
}

std::string plural(size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

std::string ready_for(const Library& library, std::string_view function) {
  std::vector<std::string> all;
  for (const DeviceCode& code : library.device_code())
    if (code.function == function) all.push_back(code.device + " " + code.form);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string type_name(const Type& type) {
  switch (type.data_type) {
    case DataType::array: {
      std::string dimensions;
      const Type* inner = &type;
      for (; inner->data_type == DataType::array && !inner->element.empty(); inner = &inner->element.front())
        dimensions += inner->array_length == 0 ? "[]" : fmt::format("[{}]", inner->array_length);
      return inner == &type ? "array" : type_name(*inner) + dimensions;
    }
    case DataType::pointer:
      return (type.element.empty() ? "void" : type_name(type.element.front())) + "*";
    case DataType::texture:
      return fmt::format("{}<{}>", to_string(type.texture_type), to_string(type.texture_data_type));
    default:
      return type.name.empty() ? to_string(type.data_type) : type.name;
  }
}

Result<std::string> describe_text(const Library& library, const DescribeOptions& options) {
  const auto names = chosen_functions(library, options);
  if (!names) return Error{names.error()};
  const Palette palette(options.colour);
  std::string text;
  if (names->size() > options.most_in_full) {
    text = list_text(library, *names, palette);
  } else {
    for (std::string_view name : *names) text += function_text(library, *library.find(name), palette) + "\n";
  }
  if (options.function) return text;
  const std::vector<FunctionConstant>& constants = library.function_constants();
  text += plural(names->size(), "function");
  if (!constants.empty())
    text += ", " + plural(constants.size(), "function constant") + ": " + constants_text(constants);
  return text + "\n";
}

}  // namespace metalloid
