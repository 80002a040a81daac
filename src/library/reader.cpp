// Opening checks the header and all of the index, so that what is asked for later cannot turn out to be nonsense; only
// code is left to be checked, and decompressed, when it is read.
#include "library/reader.hpp"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <metalloid/version.hpp>
#include <mutex>
#include <optional>

#include "library/foreign.hpp"
#include "library/reflection_codec.hpp"

namespace metalloid {
namespace {

struct Sections {
  Bytes index, code;
  Bytes device_index, device_code;
};

Result<Sections> read_sections(Bytes file, const std::string& name) {
  const size_t common = std::min(file.size(), format::magic.size());
  const bool is_ours = common > 0 && std::equal(file.begin(), file.begin() + common, format::magic.begin(),
                                                [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); });
  if (!is_ours) return Error{fmt::format("{} {}", name, explain_foreign(file))};
  const auto truncated = [&](uint64_t size) {
    return Error{
        fmt::format("{} is truncated: it has {} bytes out of {}; copy or compile it again", name, file.size(), size)};
  };
  if (file.size() < format::header_size) return truncated(format::header_size);

  ByteReader header(file.subspan(format::magic.size(), format::header_size - format::magic.size()));
  const uint32_t version = header.fixed32();
  const uint32_t section_count = header.fixed32();
  const std::string_view producer = header.padded_text(format::producer_width);
  const uint64_t size = header.fixed64();
  const uint64_t checksum = header.fixed64();
  const auto damaged = [&](std::string_view part) {
    return Error{fmt::format("{} is damaged: the checksum of its {} is wrong; copy or compile it again", name, part)};
  };
  if (version != format::version) {
    const bool plain = std::all_of(producer.begin(), producer.end(), [](char c) { return c > ' ' && c < 0x7f; });
    return Error{
        fmt::format("{} has library format {}, written by Metalloid {}; this is Metalloid {}, which reads "
                    "format {}: {}compile the source again with this one",
                    name, version, plain && !producer.empty() ? producer : "of an unknown version", metalloid::version,
                    format::version, version > format::version ? "update Metalloid, or " : "")};
  }
  if (file.size() < size) return truncated(size);

  const uint64_t room = (file.size() - format::header_size) / format::section_entry_size;
  if (file.size() > size || section_count > room) return damaged("header");
  const Bytes table = file.subspan(format::header_size, section_count * format::section_entry_size);
  ByteWriter checked;
  checked.append(file.first(format::checked_header_size));
  checked.append(table);
  if (XXH3_64bits(checked.bytes().data(), checked.size()) != checksum) return damaged("header");

  std::optional<Bytes> index, code;
  Bytes device_index, device_code;
  ByteReader entries(table);
  for (uint32_t i = 0; i < section_count; ++i) {
    const std::string_view section = entries.padded_text(format::section_name_width);
    const uint64_t offset = entries.fixed64();
    const uint64_t length = entries.fixed64();
    const uint64_t section_checksum = entries.fixed64();
    if (offset > file.size() || length > file.size() - offset) return damaged("section table");
    const Bytes content = file.subspan(offset, length);
    if (section == format::index_section) {
      if (XXH3_64bits(content.data(), content.size()) != section_checksum) return damaged("index");
      index = content;
    } else if (section == format::code_section) {
      code = content;
    } else if (section == format::device_index_section) {
      if (XXH3_64bits(content.data(), content.size()) != section_checksum) return damaged("index of device code");
      device_index = content;
    } else if (section == format::device_code_section) {
      device_code = content;
    }
  }
  if (!index || !code) return Error{fmt::format("{} has no index or no code; compile it again", name)};
  return Sections{*index, *code, device_index, device_code};
}

// The index, decoded but for what functions share, which is copied into each that is asked for.
struct Index {
  std::vector<std::string_view> strings;
  std::vector<std::vector<Parameter>> parameter_lists;
  std::vector<std::vector<FunctionConstant>> constant_lists;
  std::vector<FunctionConstant> constants;
  std::vector<Chunk> chunks;
  std::vector<uint64_t> chunk_offsets;  // in the code section
  std::vector<FunctionRecord> functions;
};

bool has_one_element_at_most(const Type& type) {
  return type.element.size() <= 1 && std::all_of(type.element.begin(), type.element.end(), has_one_element_at_most) &&
         std::all_of(type.members.begin(), type.members.end(),
                     [](const StructMember& member) { return has_one_element_at_most(member.type); });
}

// None if it does not make sense, which a wrong checksum would have told unless somebody made it so.
std::optional<Index> read_index(Bytes bytes, uint64_t code_size) {
  Index index;
  ByteReader in(bytes);
  for (size_t left = in.count(); left > 0 && !in.failed(); --left) index.strings.push_back(in.text(in.varint()));

  Decoder decoder(in, index.strings);
  std::vector<uint64_t> reflected;  // by each parameter list
  decoder.list(index.parameter_lists, [&](auto& list) {
    const uint64_t before = decoder.reflected();
    code_parameters(decoder, list);
    reflected.push_back(decoder.reflected() - before);
  });
  decoder.list(index.constant_lists, [&](auto& list) { code_constants(decoder, list); });
  code_constants(decoder, index.constants);
  decoder.list(index.chunks, [&](auto& chunk) { code_chunk(decoder, chunk); });
  decoder.list(index.functions, [&](auto& function) { code_function(decoder, function); });
  if (in.failed() || !in.at_end()) return std::nullopt;

  for (const auto& list : index.parameter_lists)
    for (const Parameter& parameter : list)
      if (!has_one_element_at_most(parameter.type)) return std::nullopt;

  uint64_t end = 0;
  for (const Chunk& chunk : index.chunks) {
    if (chunk.compressed_size > code_size - end || chunk.size > format::largest_chunk ||
        chunk.size > chunk.compressed_size * format::largest_expansion)
      return std::nullopt;
    index.chunk_offsets.push_back(end);
    end += chunk.compressed_size;
  }

  uint64_t all_reflected = 0;
  for (const FunctionRecord& function : index.functions) {
    for (uint32_t text : {function.name, function.source_name, function.file, function.entry})
      if (text >= index.strings.size()) return std::nullopt;
    if (function.parameters >= index.parameter_lists.size() || function.constants >= index.constant_lists.size() ||
        function.chunk >= index.chunks.size())
      return std::nullopt;
    for (const uint32_t symbol : function.undefined)
      if (symbol >= index.strings.size()) return std::nullopt;
    const uint64_t chunk_size = index.chunks[function.chunk].size;
    if (function.offset > chunk_size || function.size > chunk_size - function.offset) return std::nullopt;
    all_reflected += reflected[function.parameters];
    if (all_reflected > format::most_reflected) return std::nullopt;
  }
  return index;
}

// The code of one chunk or device; none if it is damaged.
std::optional<std::string> decompress(Bytes compressed, uint64_t size, uint64_t checksum) {
  if (XXH3_64bits(compressed.data(), compressed.size()) != checksum) return std::nullopt;
  std::string content(size, '\0');
  if (ZSTD_decompress(content.data(), content.size(), compressed.data(), compressed.size()) != size)
    return std::nullopt;
  return content;
}

// None if it does not make sense.
std::optional<std::vector<DeviceCode>> read_device_code(const SharedBytes& file, const std::string& name, Bytes index,
                                                        Bytes code) {
  std::vector<DeviceCode> all;
  uint64_t end = 0;
  for (ByteReader in(index); !in.at_end();) {
    DeviceCode entry;
    for (std::string* text : {&entry.function, &entry.device, &entry.form, &entry.key}) *text = in.text(in.varint());
    const uint64_t compressed_size = in.varint(), size = in.varint(), checksum = in.fixed64();
    if (in.failed() || compressed_size > code.size() - end || size > format::largest_chunk ||
        size > compressed_size * format::largest_expansion)
      return std::nullopt;
    const Bytes compressed = code.subspan(end, compressed_size);
    entry.read = [owner = file.owner, name, function = entry.function, form = entry.form, compressed, size,
                  checksum]() -> Result<std::string> {
      if (auto content = decompress(compressed, size, checksum)) return *std::move(content);
      return Error{
          fmt::format("{} is damaged: the {} of '{}' cannot be read; copy or compile it again", name, form, function)};
    };
    all.push_back(std::move(entry));
    end += compressed_size;
  }
  return all;
}

class LibraryFile : public CodeProvider {
 public:
  LibraryFile(SharedBytes file, std::string name, Bytes code, Index index)
      : file_(std::move(file)), name_(std::move(name)), code_(code), index_(std::move(index)) {}

  const Index& index() const { return index_; }

  std::vector<std::string_view> function_names() const {
    std::vector<std::string_view> names;
    names.reserve(index_.functions.size());
    for (const FunctionRecord& record : index_.functions) names.push_back(index_.strings[record.name]);
    return names;
  }

  Function function(size_t number) const {
    const FunctionRecord& record = index_.functions[number];
    Function function;
    function.name = index_.strings[record.name];
    function.source_name = index_.strings[record.source_name];
    function.kind = record.kind;
    function.location = {std::string(index_.strings[record.file]), record.line, record.column};
    function.parameters = index_.parameter_lists[record.parameters];
    if (record.has_max_threads) function.max_total_threads_per_threadgroup = record.max_threads;
    return function;
  }

  Result<std::shared_ptr<const Code>> code(size_t number) override {
    const FunctionRecord& record = index_.functions[number];
    const std::shared_ptr<const std::string> chunk = read_chunk(record.chunk);
    if (!chunk)
      return Error{fmt::format("{} is damaged: the code of '{}' cannot be read; copy or compile it again", name_,
                               index_.strings[record.name])};
    auto code = std::make_shared<Code>();
    code->entry = index_.strings[record.entry];
    const auto module = chunk->begin() + static_cast<ptrdiff_t>(record.offset);
    code->bitcode.assign(module, module + static_cast<ptrdiff_t>(record.size));
    code->static_threadgroup_memory = record.static_threadgroup_memory;
    code->function_constants = index_.constant_lists[record.constants];
    for (const uint32_t symbol : record.undefined) code->undefined.emplace_back(index_.strings[symbol]);
    return std::shared_ptr<const Code>(std::move(code));
  }

 private:
  // The chunk read last is kept: the next function asked for is often its neighbour.
  std::shared_ptr<const std::string> read_chunk(size_t number) {
    {
      const std::lock_guard lock(mutex_);
      if (last_chunk_ && last_number_ == number) return last_chunk_;
    }
    const Chunk& chunk = index_.chunks[number];
    const Bytes compressed = code_.subspan(index_.chunk_offsets[number], chunk.compressed_size);
    auto decompressed = decompress(compressed, chunk.size, chunk.checksum);
    if (!decompressed) return nullptr;
    const auto content = std::make_shared<const std::string>(*std::move(decompressed));
    const std::lock_guard lock(mutex_);
    last_number_ = number;
    last_chunk_ = content;
    return content;
  }

  const SharedBytes file_;
  const std::string name_;
  const Bytes code_;
  const Index index_;
  std::mutex mutex_;
  size_t last_number_ = 0;
  std::shared_ptr<const std::string> last_chunk_;
};

}  // namespace

Result<std::shared_ptr<Library>> read_library(SharedBytes file, const std::string& name) {
  Result<Sections> sections = read_sections(file.bytes, name);
  if (!sections) return Error{sections.error()};
  std::optional<Index> index = read_index(sections->index, sections->code.size());
  if (!index) return Error{fmt::format("{} is damaged: its index makes no sense; compile it again", name)};

  auto device_code = read_device_code(file, name, sections->device_index, sections->device_code);
  if (!device_code)
    return Error{fmt::format("{} is damaged: its index of device code makes no sense; compile it again", name)};

  const auto library_file = std::make_shared<LibraryFile>(std::move(file), name, sections->code, std::move(*index));
  std::vector<std::string_view> names = library_file->function_names();
  auto library = std::make_shared<Library>(
      std::move(names), [library_file](size_t number) { return library_file->function(number); },
      library_file->index().constants, library_file);
  library->add_device_code(*std::move(device_code));
  return library;
}

}  // namespace metalloid
