#include "nvidia/ahead.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace metalloid::nvidia {

namespace {

std::string key_of_cubin(std::string_view key) {
  return std::string(key) + ".cubin";
}

// Has nothing, and keeps what it is given.
class Collector final : public device::CodeStore {
 public:
  std::optional<std::string> load(std::string_view) override { return std::nullopt; }
  void store(std::string_view key, std::string_view code) override { key_ = key, code_ = code; }

  const std::string& key() const { return key_; }
  const std::string& code() const { return code_; }

 private:
  std::string key_, code_;
};

DeviceCode ready(const std::string& kernel, const Architecture& architecture, const char* form, std::string key,
                 std::string code) {
  return {kernel, architecture.name(), form, std::move(key),
          [code = std::move(code)]() -> Result<std::string> { return code; }};
}

}  // namespace

std::optional<Architecture> parse_architecture(std::string_view name) {
  Architecture architecture;
  if (!name.starts_with("sm_")) return std::nullopt;
  name.remove_prefix(3);
  const auto [end, problem] = std::from_chars(name.begin(), name.end(), architecture.capability);
  const bool is_number = problem == std::errc() && end == name.end();
  if (!is_number || architecture.capability < least_capability) return std::nullopt;
  return architecture;
}

Result<std::vector<DeviceCode>> compile_ahead(const std::shared_ptr<const Library>& library, const std::string& kernel,
                                              const Architecture& architecture, const Assemble& assemble) {
  const auto slots = device::argument_slots(*library->find(kernel), {});
  const auto collector = std::make_shared<Collector>();
  device::PipelineRequest request;
  request.kernel = {library, kernel, {}};
  request.archives = {collector};
  std::vector<DeviceCode> all;
  for (const Assumptions& assumptions : Assumptions::all) {
    const auto compiled = compile(request, slots, architecture, assumptions);
    if (!compiled) return Error{compiled.error()};
    all.push_back(ready(kernel, architecture, "PTX", collector->key(), collector->code()));
    if (!assemble) continue;
    auto cubin = assemble(compiled->ptx);
    if (!cubin) return Error{cubin.error()};
    all.push_back(ready(kernel, architecture, "cubin", key_of_cubin(collector->key()), *std::move(cubin)));
  }
  return all;
}

Result<bool> can_be_compiled_ahead(const Library& library, const std::string& function) {
  if (library.find(function)->kind != FunctionKind::kernel) return false;
  const auto code = library.code(function);
  if (!code) return Error{code.error()};
  return std::ranges::none_of((*code)->function_constants, &FunctionConstant::required);
}

std::optional<std::string> LibraryCode::load(std::string_view key) {
  const auto read = [this](const DeviceCode& code) -> std::optional<std::string> {
    auto content = code.read();
    if (content) return *std::move(content);
    error_ = content.error();
    return std::nullopt;
  };
  const DeviceCode* code = library_.find_device_code(key);
  if (!code) return std::nullopt;
  if (const DeviceCode* assembled = library_.find_device_code(key_of_cubin(key)))
    cubin_ = read(*assembled).value_or("");
  return read(*code);
}

}  // namespace metalloid::nvidia
