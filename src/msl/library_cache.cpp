#include "msl/library_cache.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace metalloid::msl {

namespace {

using nlohmann::json;

// One code for every function asked for: none for the index, the only one for a function's own entry.
class FixedCode final : public CodeProvider {
 public:
  explicit FixedCode(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  Result<std::shared_ptr<const Code>> code(size_t) override { return code_; }

 private:
  std::shared_ptr<const Code> code_;
};

std::optional<std::string> hash_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

json to_json(const Diagnostic& diagnostic) {
  return {static_cast<int>(diagnostic.severity),
          diagnostic.message,
          diagnostic.file,
          diagnostic.line,
          diagnostic.column,
          diagnostic.source_line};
}

Diagnostic diagnostic_from(const json& value) {
  return {
      static_cast<Severity>(value.at(0).get<int>()), value.at(1), value.at(2), value.at(3), value.at(4), value.at(5)};
}

// The notes are JSON, ended by a zero byte; the library follows.
std::optional<std::string> pack(const json& notes, const Library& library) {
  auto bytes = library.serialise();
  if (!bytes) return std::nullopt;
  std::string value = notes.dump();
  value.push_back('\0');
  value.append(bytes->begin(), bytes->end());
  return value;
}

std::shared_ptr<Library> unpack(const std::string& value, json& notes) {
  const size_t end = value.find('\0');
  if (end == std::string::npos) return nullptr;
  notes = json::parse(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
  if (notes.is_discarded()) return nullptr;
  const auto bytes = value.begin() + static_cast<std::ptrdiff_t>(end) + 1;
  auto library = Library::from_bytes(std::vector<uint8_t>(bytes, value.end()));
  return library ? *library : nullptr;
}

}  // namespace

LibraryCache::LibraryCache(std::string_view source, const std::filesystem::path& path, const CompileOptions& options)
    : enabled_(options.cache) {
  if (!enabled_) return;
  key_.add(source).add(path.string()).add(options.source_name);
  key_.add(fmt::format("{}.{} {} {} {} {} {} {} {} {}", options.language.major, options.language.minor,
                       static_cast<int>(options.math_mode), options.precise_functions,
                       static_cast<int>(options.optimization), options.debug_info, options.all_warnings,
                       options.no_warnings, options.warnings_as_errors, options.for_linking));
  for (const auto& [name, value] : options.macros) key_.add("-D").add(name).add(value);
  for (const auto& warning : options.warning_options) key_.add(warning);
  for (const auto& name : options.undefined_macros) key_.add("-U").add(name);
  for (const auto& folder : options.include_directories) key_.add("-I").add(folder.string());
}

std::optional<LibraryCache::Entry> LibraryCache::load() {
  if (!enabled_) return std::nullopt;
  const auto value = cache::DiskCache::shared().load(index_key());
  if (!value) return std::nullopt;
  Entry entry;
  json notes;
  std::string hashes;
  entry.index = unpack(*value, notes);
  if (!entry.index) return std::nullopt;
  for (const json& file : notes.at("files")) {
    entry.included_files.push_back(file.at(0).get<std::string>());
    if (hash_of_file(entry.included_files.back()) != file.at(1).get<std::string>()) return std::nullopt;
    hashes += file.at(1).get<std::string>();
  }
  for (const json& diagnostic : notes.at("diagnostics")) entry.diagnostics.push_back(diagnostic_from(diagnostic));
  included_ = std::move(hashes);
  return entry;
}

void LibraryCache::store(const std::vector<Function>& functions, const std::vector<FunctionConstant>& constants,
                         const std::vector<Diagnostic>& diagnostics,
                         const std::vector<std::filesystem::path>& included) {
  if (!enabled_) return;
  included_.clear();
  json notes = {{"files", json::array()}, {"diagnostics", json::array()}};
  for (const auto& path : included) {
    const auto hash = hash_of_file(path);
    if (!hash) {
      enabled_ = false;  // what the code depends on is not known
      return;
    }
    included_ += *hash;
    notes["files"].push_back({path.string(), *hash});
  }
  for (const Diagnostic& diagnostic : diagnostics) notes["diagnostics"].push_back(to_json(diagnostic));
  const Library index(functions, constants, std::make_shared<FixedCode>(std::make_shared<Code>()));
  if (const auto value = pack(notes, index)) cache::DiskCache::shared().store(index_key(), *value);
}

std::shared_ptr<const Code> LibraryCache::load_code(const Function& function) const {
  if (!enabled_) return nullptr;
  const auto value = cache::DiskCache::shared().load(code_key(function));
  if (!value) return nullptr;
  json notes;
  const auto library = unpack(*value, notes);
  if (!library) return nullptr;
  auto code = library->code(function.name);
  return code ? *code : nullptr;
}

void LibraryCache::store_code(const Function& function, const std::shared_ptr<const Code>& code) const {
  if (!enabled_) return;
  const Library single({function}, {}, std::make_shared<FixedCode>(code));
  if (const auto value = pack(json::object(), single)) cache::DiskCache::shared().store(code_key(function), *value);
}

}  // namespace metalloid::msl
