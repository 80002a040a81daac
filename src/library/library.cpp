#include <fmt/format.h>

#include <metalloid/library.hpp>

#include "library/file.hpp"
#include "library/reader.hpp"
#include "library/writer.hpp"

namespace metalloid {

Library::Library(std::vector<Function> functions, std::vector<FunctionConstant> constants,
                 std::shared_ptr<CodeProvider> provider)
    : functions_(std::move(functions)), constants_(std::move(constants)), provider_(std::move(provider)) {
  for (const Function& function : functions_) names_.push_back(function.name);
  index_names();
}

Library::Library(std::vector<std::string_view> names, ReadFunction read, std::vector<FunctionConstant> constants,
                 std::shared_ptr<CodeProvider> provider)
    : functions_(names.size()),
      read_(std::move(read)),
      was_read_(std::make_unique<std::once_flag[]>(names.size())),
      names_(std::move(names)),
      constants_(std::move(constants)),
      provider_(std::move(provider)) {
  index_names();
}

void Library::index_names() {
  index_of_.reserve(names_.size());
  for (size_t i = 0; i < names_.size(); ++i) index_of_.try_emplace(names_[i], i);
}

Result<std::shared_ptr<Library>> Library::open(const std::filesystem::path& path) {
  Result<SharedBytes> file = map_file(path);
  if (!file) return Error{file.error()};
  return read_library(std::move(*file), fmt::format("'{}'", path.string()));
}

Result<std::shared_ptr<Library>> Library::from_bytes(std::vector<uint8_t> bytes) {
  const auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return read_library({*owner, owner}, "the library");
}

const std::vector<Function>& Library::functions() const {
  for (size_t i = 0; i < names_.size(); ++i) function(i);
  return functions_;
}

const Function& Library::function(size_t index) const {
  if (read_) std::call_once(was_read_[index], [&] { functions_[index] = read_(index); });
  return functions_[index];
}

const Function* Library::find(std::string_view name) const {
  const auto place = index_of_.find(name);
  return place == index_of_.end() ? nullptr : &function(place->second);
}

Result<std::shared_ptr<const Code>> Library::code(std::string_view name) const {
  const auto place = index_of_.find(name);
  if (place == index_of_.end()) return Error{fmt::format("the library has no function named '{}'", name)};
  return provider_->code(place->second);
}

void Library::add_device_code(std::vector<DeviceCode> code) {
  for (DeviceCode& added : code)
    if (device_code_by_key_.try_emplace(added.key, device_code_.size()).second)
      device_code_.push_back(std::move(added));
}

const DeviceCode* Library::find_device_code(std::string_view key) const {
  const auto place = device_code_by_key_.find(std::string(key));
  return place == device_code_by_key_.end() ? nullptr : &device_code_[place->second];
}

Result<std::vector<uint8_t>> Library::serialise() const {
  return write_library(*this);
}

Status Library::write(const std::filesystem::path& path) const {
  Result<std::vector<uint8_t>> bytes = serialise();
  if (!bytes) return Error{fmt::format("cannot write '{}': {}", path.string(), bytes.error())};
  return replace_file(path, *bytes);
}

}  // namespace metalloid
