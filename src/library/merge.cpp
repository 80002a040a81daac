// A merged library refers to its parts for everything but the names, which have to be different.
#include <fmt/format.h>

#include <algorithm>
#include <metalloid/library.hpp>
#include <unordered_map>

namespace metalloid {
namespace {

// Asks the library that a function came from, so that merging stays as lazy as its parts.
class MergedCode : public CodeProvider {
 public:
  struct Origin {
    std::shared_ptr<Library> library;
    size_t function;
  };
  explicit MergedCode(std::vector<Origin> origins) : origins_(std::move(origins)) {}

  Result<std::shared_ptr<const Code>> code(size_t function) override {
    const Origin& origin = origins_[function];
    return origin.library->code(origin.library->function_names()[origin.function]);
  }
  Function function(size_t function) const {
    const Origin& origin = origins_[function];
    return *origin.library->find(origin.library->function_names()[origin.function]);
  }

 private:
  const std::vector<Origin> origins_;
};

std::string place_of(const Library& library, std::string_view name) {
  const SourceLocation& location = library.find(name)->location;
  return location.file.empty() ? "unknown" : fmt::format("{}:{}", location.file, location.line);
}

// Constants of different libraries may share an index: which of them a function means is in its own list.
void add_constant(std::vector<FunctionConstant>& constants, const FunctionConstant& added) {
  const auto same = std::find_if(constants.begin(), constants.end(), [&](const FunctionConstant& constant) {
    return constant.index == added.index && constant.name == added.name && constant.data_type == added.data_type;
  });
  if (same == constants.end())
    constants.push_back(added);
  else
    same->required |= added.required;
}

}  // namespace

Result<std::shared_ptr<Library>> merge(const std::vector<std::shared_ptr<Library>>& libraries) {
  std::vector<std::string_view> names;
  std::vector<MergedCode::Origin> origins;
  std::vector<FunctionConstant> constants;
  std::unordered_map<std::string_view, const Library*> defined_in;
  for (const auto& library : libraries) {
    for (size_t i = 0; i < library->function_names().size(); ++i) {
      const std::string_view name = library->function_names()[i];
      if (library->find(name)->kind == FunctionKind::external) continue;
      const auto [first, is_new] = defined_in.try_emplace(name, library.get());
      if (!is_new)
        return Error{
            fmt::format("cannot merge the libraries: '{}' is defined twice, at {} and at {}; rename one, or "
                        "give it another name with [[host_name]]",
                        name, place_of(*first->second, name), place_of(*library, name))};
      names.push_back(name);
      origins.push_back({library, i});
    }
    for (const FunctionConstant& constant : library->function_constants()) add_constant(constants, constant);
  }
  std::stable_sort(constants.begin(), constants.end(),
                   [](const FunctionConstant& a, const FunctionConstant& b) { return a.index < b.index; });

  auto code = std::make_shared<MergedCode>(std::move(origins));
  auto merged = std::make_shared<Library>(
      std::move(names), [code](size_t function) { return code->function(function); }, std::move(constants), code);
  for (const auto& library : libraries) merged->add_device_code(library->device_code());
  return merged;
}

}  // namespace metalloid
