// Produces the code of all functions, on all cores, some at a time so that not all of it is in memory at once; packs
// it into chunks in the order of the functions; then writes the index.
#include "library/writer.hpp"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <metalloid/version.hpp>
#include <optional>
#include <thread>
#include <unordered_set>

#include "library/reflection_codec.hpp"

namespace metalloid {
namespace {

using CodeResult = Result<std::shared_ptr<const Code>>;

constexpr size_t batch_size = 256;
constexpr int compression_level = 3;  // 9 gains 3% on MLX's kernels and takes three times as long

// Puts each different value into a list once and says which place it has there.
class Pool {
 public:
  size_t add(std::vector<uint8_t> value) {
    std::string key(value.begin(), value.end());
    const auto [place, is_new] = numbers_.try_emplace(std::move(key), numbers_.size());
    if (is_new) content_.append(value);
    return place->second;
  }
  size_t size() const { return numbers_.size(); }
  Bytes content() const { return content_.bytes(); }

 private:
  std::unordered_map<std::string, size_t> numbers_;
  ByteWriter content_;
};

// Bitcode, packed into compressed chunks; equal modules are packed once.
class CodePacker {
 public:
  struct Place {
    size_t chunk = 0;
    uint64_t offset = 0, size = 0;
  };

  Place add(Bytes module) {
    // 128 bits: different modules do not share a hash by accident.
    const XXH128_hash_t hash = XXH3_128bits(module.data(), module.size());
    const std::string key(reinterpret_cast<const char*>(&hash), sizeof hash);
    if (const auto known = places_.find(key); known != places_.end()) return known->second;

    if (!open_.empty() && open_.size() + module.size() > format::chunk_size) close_chunk();
    const Place place{chunks_.size(), open_.size(), module.size()};
    open_.insert(open_.end(), module.begin(), module.end());
    places_.emplace(key, place);
    return place;
  }

  void close_chunk() {
    std::vector<uint8_t> compressed(ZSTD_compressBound(open_.size()));
    compressed.resize(
        ZSTD_compress(compressed.data(), compressed.size(), open_.data(), open_.size(), compression_level));
    chunks_.push_back({compressed.size(), open_.size(), XXH3_64bits(compressed.data(), compressed.size())});
    content_.append(compressed);
    open_.clear();
  }

  const std::vector<Chunk>& chunks() const { return chunks_; }
  Bytes content() const { return content_.bytes(); }

 private:
  std::vector<uint8_t> open_;
  std::vector<Chunk> chunks_;
  ByteWriter content_;
  std::unordered_map<std::string, Place> places_;
};

std::vector<std::optional<CodeResult>> produce(const Library& library, size_t begin, size_t end) {
  std::vector<std::optional<CodeResult>> results(end - begin);
  std::atomic<size_t> next = begin;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (size_t i = next++; i < end && !failed; i = next++) {
      results[i - begin] = library.code(library.function_names()[i]);
      if (!*results[i - begin] && library.functions()[i].kind != FunctionKind::external) failed = true;
    }
  };
  std::vector<std::jthread> others;
  const size_t workers = std::min<size_t>(std::max(1u, std::thread::hardware_concurrency()), end - begin);
  for (size_t i = 1; i < workers; ++i) others.emplace_back(work);
  work();
  others.clear();
  return results;
}

class Writer {
 public:
  Status add(const Function& function, const Code& code) {
    if (code.bitcode.size() > format::largest_chunk)
      return Error{fmt::format("the code of '{}' has {} bytes, and {} is the most", function.name, code.bitcode.size(),
                               format::largest_chunk)};
    if (!names_.insert(function.name).second)
      return Error{fmt::format("the library has two functions named '{}'", function.name)};

    FunctionRecord record;
    record.name = strings_.add(function.name);
    record.source_name = strings_.add(function.source_name);
    record.file = strings_.add(function.location.file);
    record.entry = strings_.add(code.entry);
    record.kind = function.kind;
    record.line = function.location.line;
    record.column = function.location.column;
    record.has_max_threads = function.max_total_threads_per_threadgroup.has_value();
    record.max_threads = function.max_total_threads_per_threadgroup.value_or(0);

    ByteWriter parameters;
    Encoder parameter_encoder(parameters, strings_);
    code_parameters(parameter_encoder, function.parameters);
    if (parameter_encoder.too_deep())
      return Error{
          fmt::format("a parameter of '{}' has a type nested more than {} deep", function.name, format::deepest_type)};
    reflected_ += parameter_encoder.reflected();
    if (reflected_ > format::most_reflected)
      return Error{
          fmt::format("the functions of the library have more than {} parameters and struct "
                      "members; split it into several",
                      format::most_reflected)};
    record.parameters = parameter_lists_.add(parameters.take());

    ByteWriter constants;
    Encoder constant_encoder(constants, strings_);
    code_constants(constant_encoder, code.function_constants);
    record.constants = constant_lists_.add(constants.take());
    for (const std::string& symbol : code.undefined) record.undefined.push_back(strings_.add(symbol));

    const CodePacker::Place place = code_.add(code.bitcode);
    record.chunk = place.chunk;
    record.offset = place.offset;
    record.size = place.size;
    record.static_threadgroup_memory = code.static_threadgroup_memory;
    records_.push_back(record);
    return success();
  }

  Status add(const DeviceCode& code) {
    const Result<std::string> content = code.read();
    if (!content) return Error{content.error()};
    if (content->size() > format::largest_chunk)
      return Error{fmt::format("the {} of '{}' has {} bytes, and {} is the most", code.form, code.function,
                               content->size(), format::largest_chunk)};
    std::vector<uint8_t> compressed(ZSTD_compressBound(content->size()));
    compressed.resize(
        ZSTD_compress(compressed.data(), compressed.size(), content->data(), content->size(), compression_level));
    for (const std::string* text : {&code.function, &code.device, &code.form, &code.key}) {
      device_index_.varint(text->size());
      device_index_.append({reinterpret_cast<const uint8_t*>(text->data()), text->size()});
    }
    device_index_.varint(compressed.size());
    device_index_.varint(content->size());
    device_index_.fixed64(XXH3_64bits(compressed.data(), compressed.size()));
    device_code_.append(compressed);
    return success();
  }

  std::vector<uint8_t> finish(const std::vector<FunctionConstant>& constants) {
    code_.close_chunk();
    const std::vector<uint8_t> index = write_index(constants);
    struct Section {
      std::string_view name;
      Bytes content;
      uint64_t checksum;
    };
    std::vector<Section> sections = {
        {format::index_section, index, XXH3_64bits(index.data(), index.size())},
        {format::code_section, code_.content(), 0},
    };
    if (const Bytes device_index = device_index_.bytes(); !device_index.empty()) {
      sections.push_back(
          {format::device_index_section, device_index, XXH3_64bits(device_index.data(), device_index.size())});
      sections.push_back({format::device_code_section, device_code_.bytes(), 0});
    }

    ByteWriter table;
    uint64_t end = format::header_size + sections.size() * format::section_entry_size;
    for (const Section& section : sections) {
      table.padded_text(section.name, format::section_name_width);
      table.fixed64(end);
      table.fixed64(section.content.size());
      table.fixed64(section.checksum);
      end += section.content.size();
    }

    ByteWriter file;
    file.padded_text(format::magic, format::magic.size());
    file.fixed32(format::version);
    file.fixed32(static_cast<uint32_t>(sections.size()));
    file.padded_text(metalloid::version, format::producer_width);
    file.fixed64(end);
    ByteWriter checked = file;
    checked.append(table.bytes());
    file.fixed64(XXH3_64bits(checked.bytes().data(), checked.size()));
    file.append(table.bytes());
    for (const Section& section : sections) file.append(section.content);
    return file.take();
  }

 private:
  std::vector<uint8_t> write_index(const std::vector<FunctionConstant>& constants) {
    ByteWriter rest;  // written first: it adds to the strings
    Encoder encoder(rest, strings_);
    encoder.number(parameter_lists_.size());
    rest.append(parameter_lists_.content());
    encoder.number(constant_lists_.size());
    rest.append(constant_lists_.content());
    code_constants(encoder, constants);
    encoder.list(code_.chunks(), [&](auto& chunk) { code_chunk(encoder, chunk); });
    encoder.list(records_, [&](auto& record) { code_function(encoder, record); });

    ByteWriter index;
    index.varint(strings_.strings().size());
    for (std::string_view text : strings_.strings()) {
      index.varint(text.size());
      index.append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    }
    index.append(rest.bytes());
    return index.take();
  }

  StringTable strings_;
  Pool parameter_lists_;
  Pool constant_lists_;
  CodePacker code_;
  ByteWriter device_index_, device_code_;
  std::vector<FunctionRecord> records_;
  std::unordered_set<std::string> names_;
  uint64_t reflected_ = 0;
};

}  // namespace

Result<std::vector<uint8_t>> write_library(const Library& library) {
  Writer writer;
  const std::vector<Function>& functions = library.functions();
  for (size_t begin = 0; begin < functions.size(); begin += batch_size) {
    const size_t end = std::min(begin + batch_size, functions.size());
    const auto results = produce(library, begin, end);
    // Functions for other files are not all for kernels: those that do not compile are left out.
    for (size_t i = begin; i < end; ++i)
      if (const auto& result = results[i - begin]; result && !*result && functions[i].kind != FunctionKind::external)
        return Error{result->error()};
    for (size_t i = begin; i < end; ++i) {
      const CodeResult& code = *results[i - begin];
      if (!code) continue;
      if (Status added = writer.add(functions[i], **code); !added) return Error{added.error()};
    }
  }
  for (const DeviceCode& code : library.device_code())
    if (Status added = writer.add(code); !added) return Error{added.error()};
  return writer.finish(library.function_constants());
}

}  // namespace metalloid
